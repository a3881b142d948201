"""Downloads of collections from their publishers. Read `offers` first, then `fetching`. `offers`
lists archives and sources; importing it loads no network library."""
