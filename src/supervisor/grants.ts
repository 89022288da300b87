/**
 * Grants of the workspace: a fold over the workspace journal, each record a whole grant as it is after the change. They
 * hold in every tree and in every run of the repository, until they end.
 */
import { type Clock, isoTime } from '../kernel/index.ts';
import type { Grant } from '../protocol/index.ts';
import type { WorkspaceChain } from './workspace-chain.ts';

type GrantWord = 'grant.given' | 'grant.used' | 'grant.revoked';

export class GrantBook {
  /** Not revoked, by id; the same map for every run, changed in place. */
  readonly grants: Map<string, Grant> = new Map();
  private readonly clock: Clock;
  private chain: WorkspaceChain | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  open(chain: WorkspaceChain): void {
    this.chain = chain;
  }

  /** One record of the workspace journal. */
  take(record: { readonly k: string; readonly [field: string]: unknown }): void {
    if (record.k !== 'grant') return;
    const grant = record['body'] as Grant | undefined;
    if (grant === undefined) return;
    if (record['what'] === 'grant.revoked') this.grants.delete(grant.id);
    else this.grants.set(grant.id, grant);
  }

  /** The same grant twice is one. */
  async give(grant: Grant): Promise<void> {
    if (!this.grants.has(grant.id)) await this.write('grant.given', grant);
  }

  async used(id: string, at: string): Promise<void> {
    const grant = this.grants.get(id);
    if (grant !== undefined) await this.write('grant.used', { ...grant, lastUsedAt: at });
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
