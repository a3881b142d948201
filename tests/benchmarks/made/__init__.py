"""Made-up datasets, runs and the like of full size."""
