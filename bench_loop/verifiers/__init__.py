"""The rules that judge, one file each."""
