"""Getting collections from where they are published. Read `offers` first, then `fetching`.

`offers` says what there is and where from; importing it loads no network library.
"""
