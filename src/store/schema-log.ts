// Tables of what is known from the request log beside its traffic sums.

export interface LogFactTables {
  /** Attempts that failed at a channel, also of calls that another channel served then. */
  failed_attempts: { hour_ms: number; channel: string; failed: number }
  /** The newest request of each token, of the complete segments. */
  token_uses: { token_id: string; last_ms: number }
  /** A figure of each row of a complete segment, with the lowest and highest of them. */
  log_figures: { segment: number; field: string; lowest: number; highest: number; figures: string }
}
