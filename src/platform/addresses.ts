/** P40: a name is resolved once, every address that it has is checked, and a checked one is what the caller dials. */
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

export interface AddressDeps {
  /** All addresses of a host. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  /** Whether an address may be dialled. */
  readonly mayDial: (address: string) => boolean;
}

export type CheckedAddress =
  | { readonly kind: 'address'; readonly address: string }
  /** `inner`: the address that is why. */
  | { readonly kind: 'refused'; readonly reason: string; readonly inner?: string };

/** The system's way. */
export async function resolveAll(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** IPv6 without brackets. Rejects as `resolve` does. */
export async function checkedAddress(host: string, deps: AddressDeps): Promise<CheckedAddress> {
  const addresses = await deps.resolve(host);
  // One inner address among public ones is reason enough: which one a name server gives first is its choice.
  const inner = addresses.find((address) => !deps.mayDial(address));
  const [first] = addresses;
  if (inner === undefined && first !== undefined) return { kind: 'address', address: first };
  if (inner === undefined) return { kind: 'refused', reason: `${host} has no address` };
  return { kind: 'refused', reason: `${host} leads to ${inner}, which is not public`, inner };
}

/** Mapped, translated and tunnelled forms are not unicast by this measure. */
export function isPublic(address: string): boolean {
  try {
    return ipaddr.process(address).range() === 'unicast';
  } catch {
    return false;
  }
}

/** An address of this machine, which may be a public one. */
export function isOwnAddress(address: string): boolean {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.some((one) => one.address === address);
}
