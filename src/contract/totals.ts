// Names that callers choose, in totals: so many of an account and month have rows of their own. No I/O.

/** Values of one name (models, one tag, end users) in the totals of an account and month. */
export const maxTotalNames = 1_000

/** Stands for the others in totals. No model, tag value or end user is kept like this. */
export const otherNames = '*'

/** As answers, bills and files show a name of a total. */
export const shownName = (name: string): string => (name === otherNames ? 'other' : name)
