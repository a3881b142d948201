"""Downloads of collections from their publishers. Read `offers` first, then `fetching`. `offers`
lists the archives and their sources; importing it loads no network library."""
