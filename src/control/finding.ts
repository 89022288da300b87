/** What the doctor found. */
export interface Finding {
  /** What was looked at: `journal of RUN`, `workspace journal`, `spool`. */
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do; empty when there is nothing. */
  readonly repair: string;
}
