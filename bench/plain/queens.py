"""How many ways there are to place n queens, by going back and forth over a list of columns."""


def queens(n):
    column = [0] * n
    used = [False] * n
    up = [False] * (2 * n)
    down = [False] * (2 * n)
    found = row = 0
    while row >= 0:
        c = column[row]
        while c < n and (used[c] or up[row + c] or down[row - c + n]):
            c += 1
        if c < n:
            column[row] = c
            if row == n - 1:
                found += 1
                column[row] = c + 1
                continue
            used[c] = up[row + c] = down[row - c + n] = True
            row += 1
            column[row] = 0
        else:
            row -= 1
            if row >= 0:
                c = column[row]
                used[c] = up[row + c] = down[row - c + n] = False
                column[row] = c + 1
    return found


print(queens(10), queens(13))
