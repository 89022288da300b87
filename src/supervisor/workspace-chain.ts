/**
 * The audit chain of the workspace journal: words on trust and on grants that hold in every run. They are kept for good,
 * where other records of that journal go once a newer one says more.
 *
 * Invariants
 * - P50 as for runs. One record is on its way to the disk at a time: what the journal refused is no part of the chain.
 */
import type { Journal, StoredRecord } from '../journal/index.ts';
import { CHAIN_START, type ChainTip, markFor, WORKSPACE_LOG } from '../permissions/index.ts';
import type { AuditMark } from '../protocol/index.ts';
import type { AuditBook } from './audit-book.ts';
import { AUDIT_HEAD_STEP } from './limits.ts';

type Body = { readonly k: string; readonly [field: string]: unknown };

export class WorkspaceChain {
  private tip: ChainTip = CHAIN_START;
  private opened: { readonly journal: Journal; readonly audit: AuditBook } | null = null;
  private line: Promise<void> = Promise.resolve();

  /** One record of the journal, while it is read. */
  take(record: StoredRecord | Body): void {
    const mark = (record as { readonly audit?: AuditMark }).audit;
    if (mark !== undefined) this.tip = { n: mark.n, hash: mark.hash };
  }

  open(journal: Journal, audit: AuditBook): void {
    this.opened = { journal, audit };
  }

  /** Resolves when it is durable. */
  write(body: Body): Promise<void> {
    const written = this.line.then(() => this.append(body));
    this.line = written.catch(() => undefined);
    return written;
  }

  /** P51: at the end of a term. */
  async close(): Promise<void> {
    await this.line;
    if (this.tip.n > 0) await this.opened?.audit.head(WORKSPACE_LOG, this.tip);
  }

  private async append(body: Body): Promise<void> {
    if (this.opened === null) return;
    const { journal, audit } = this.opened;
    const mark = markFor({ ...body }, this.tip, audit.keysOf(WORKSPACE_LOG));
    await journal.append({ ...body, audit: mark }).durable;
    this.tip = { n: mark.n, hash: mark.hash };
    const isRare = body['what'] !== 'grant.used';
    if (isRare || mark.n % AUDIT_HEAD_STEP === 0) await audit.head(WORKSPACE_LOG, this.tip);
  }
}
