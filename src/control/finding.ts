/** What `troupe doctor` says of one thing. */
export interface Finding {
  /** What was looked at: `journal of RUN`, `workspace journal`, `spool`, `setting model`. */
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do; empty when there is nothing. */
  readonly repair: string;
}
