// Words and spans of time that several rows of the table of task faults name.

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs

/** The upstream calls it done and hands nothing over. */
export const noOutput = 'no_output'
/** The upstream no longer knows it. */
export const taskLost = 'upstream_task_lost'
