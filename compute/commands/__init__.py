"""The command line: functions whose signatures are the options, in the table of `app`."""
