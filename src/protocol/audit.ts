/** The place of a record in the audit chain of its log (permissions §2.15). */
export interface AuditMark {
  readonly n: number;
  /** Hash of the record before it in the chain. */
  readonly prev: string;
  readonly hash: string;
  /** Keyed digests of the inputs that it holds, in order. */
  readonly inputs: readonly string[];
}
