def write(report, folder):
    pass
