"""Starts softphones, drives them, and reads what they recorded."""
