"""`python -m numbus script.py`: a user's own modules get Numbus for NumPy, installed packages the
real one.
"""
