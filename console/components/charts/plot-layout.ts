// Where the bars of a chart begin and end, for what is laid over them.

/** Room for the axis on the left, and on the right. */
export const gutterPx = { left: 68, right: 24 }
export const axisPx = 24
