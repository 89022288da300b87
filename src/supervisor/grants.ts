/**
 * Grants of the workspace: a fold over the workspace journal, each record a whole grant as it is after the change. They
 * hold in every tree and in every run of the repository, until they end.
 *
 * Invariants
 * - P52 A use of a grant is recorded at most once an hour, however many calls of however many runs it lets through: the
 *   records stay for good, so their number must not grow with the work that is done.
 * - P53 What is revoked stays so: a use that was on its way when it was revoked does not bring it back.
 */
import { type Clock, isoTime } from '../kernel/index.ts';
import { GRANT_USE_STEP_MS } from '../permissions/index.ts';
import type { Grant } from '../protocol/index.ts';
import type { WorkspaceChain } from './workspace-chain.ts';

type GrantWord = 'grant.given' | 'grant.used' | 'grant.revoked';

export class GrantBook {
  /** Not revoked, by id; the same map for every run, changed in place. */
  readonly grants: Map<string, Grant> = new Map();
  private readonly clock: Clock;
  private chain: Pick<WorkspaceChain, 'write'> | null = null;
  /** When the last use was recorded that is on its way to the disk, or there, by grant. */
  private readonly usedAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  open(chain: Pick<WorkspaceChain, 'write'>): void {
    this.chain = chain;
  }

  /** One record of the workspace journal. */
  take(record: { readonly k: string; readonly [field: string]: unknown }): void {
    if (record.k !== 'grant') return;
    const grant = record['body'] as Grant | undefined;
    if (grant === undefined) return;
    // P53
    const isKnown = record['what'] !== 'grant.used' || this.grants.has(grant.id);
    if (record['what'] === 'grant.revoked') this.grants.delete(grant.id);
    else if (isKnown) this.grants.set(grant.id, grant);
  }

  /** The same grant twice is one. */
  async give(grant: Grant): Promise<void> {
    if (!this.grants.has(grant.id)) await this.write('grant.given', grant);
  }

  /** P52 */
  async used(id: string, at: string): Promise<void> {
    const grant = this.grants.get(id);
    if (grant === undefined) return;
    const now = Date.parse(at);
    const told = grant.lastUsedAt === null ? 0 : Date.parse(grant.lastUsedAt);
    const last = this.usedAt.get(id) ?? told;
    if (now - last < GRANT_USE_STEP_MS) return;
    this.usedAt.set(id, now);
    try {
      await this.write('grant.used', { ...grant, lastUsedAt: at });
    } finally {
      // What was written is in the grant; what was not may be tried again.
      this.usedAt.delete(id);
    }
  }

  /** False when there is none of this id. */
  async revoke(id: string, by: string): Promise<boolean> {
    const grant = this.grants.get(id);
    if (grant === undefined) return false;
    await this.write('grant.revoked', grant, by);
    return true;
  }

  private async write(what: GrantWord, grant: Grant, by?: string): Promise<void> {
    const record = {
      k: 'grant',
      at: isoTime(this.clock.now()),
      what,
      grant: grant.id,
      body: grant,
      ...(by === undefined ? {} : { by }),
    };
    await this.chain?.write(record);
    this.take(record);
  }
}
