"""Object stores with S3's interface: the pages and tables of many machines are kept in them.

bucket.py         whole objects, ranges, files, and objects that change hands by compare-and-swap
folder_names.py   a domain as one folder of an address
"""
