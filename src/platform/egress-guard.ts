/**
 * What a command in the sandbox may dial, and what it asked for in vain.
 *
 * Invariants
 * - P24 Nothing is dialled but a host on the list, at an address that was checked as in `addresses.ts`. An address that is
 *   not public, or is this machine's, must be on the list itself; `localhost` on the list names the loopback for that name.
 */
import { isIP } from 'node:net';
import { ensureError } from '../kernel/errors.ts';
import { allowsHost, type HostRule, hostRule, hostText, targetOf } from '../kernel/hosts.ts';
import type { RefusedHost } from '../kernel/ports.ts';
import { type AddressDeps, checkedAddress, isOwnAddress, isPublic } from './addresses.ts';
import { EGRESS_REFUSED_MAX } from './limits.ts';

type Verdict =
  | { readonly kind: 'dial'; readonly address: string; readonly port: number }
  | { readonly kind: 'refused'; readonly status: 400 | 403 | 502; readonly reason: string };

export class EgressGuard {
  /** By what a person would write to open it; the first of them. */
  readonly refused: Map<string, RefusedHost> = new Map();
  readonly #rules: readonly HostRule[];
  readonly #resolve: AddressDeps['resolve'];

  constructor(allow: readonly string[], resolve: AddressDeps['resolve']) {
    this.#rules = allow.flatMap((text) => hostRule(text) ?? []);
    this.#resolve = resolve;
  }

  /** `target` is `host:port` as the command spells it; `port` stands for one that is left out. Never rejects. */
  async judge(target: string, port: number | null): Promise<Verdict> {
    const asked = targetOf(target, port);
    if (asked === null || asked.port === null) {
      const reason = `${JSON.stringify(target.slice(0, 80))} is no host and port that this proxy reads`;
      return { kind: 'refused', status: 400, reason };
    }
    const named = { host: asked.host, port: asked.port };
    if (!this.#allows(named.host, named.port)) {
      const name = hostText(named.host, named.port);
      return this.#refuse({ add: name, why: `${name} is not on the list` });
    }
    const deps: AddressDeps = {
      resolve: isIP(named.host) === 0 ? this.#resolve : (host) => Promise.resolve([host]),
      mayDial: (address) => this.#mayDial(address, named),
    };
    try {
      const found = await checkedAddress(named.host, deps);
      if (found.kind === 'refused') {
        const add = hostText(found.inner ?? named.host, named.port);
        return this.#refuse({ add, why: found.reason });
      }
      return { kind: 'dial', address: found.address, port: named.port };
    } catch (error) {
      const reason = `${named.host}: ${ensureError(error).message}`;
      return { kind: 'refused', status: 502, reason };
    }
  }

  #allows(host: string, port: number): boolean {
    return this.#rules.some((rule) => allowsHost(rule, host, port));
  }

  #mayDial(address: string, { host, port }: { readonly host: string; readonly port: number }) {
    if (host === 'localhost' && /^(?:127\.|::1$)/.test(address)) return true;
    return (isPublic(address) && !isOwnAddress(address)) || this.#allows(address, port);
  }

  #refuse(one: RefusedHost): Verdict {
    if (this.refused.size < EGRESS_REFUSED_MAX) this.refused.set(one.add, one);
    const line = `sandbox: { network: { allow: [${JSON.stringify(one.add)}] } }`;
    return { kind: 'refused', status: 403, reason: `${one.why}. A person can open it: ${line}` };
  }
}
