/**
 * Who is connected, by token, and what that lets it call. One place: nothing reaches a handler past it.
 *
 * Invariants: I3, I4 of `protocol/wire-methods.ts`.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ErrorShape } from '../kernel/errors.ts';
import { TroupeError } from '../kernel/errors.ts';
import type { MethodName, Role } from '../protocol/wire.ts';
import { METHOD_INFO } from '../protocol/wire-methods.ts';
import { IPC_LIMITS } from './limits.ts';

export type Identity =
  | { readonly role: 'person' }
  | { readonly role: 'viewer' }
  | { readonly role: 'actor'; readonly run: string; readonly actor: string };

export interface TokenBook {
  readonly person: string;
  readonly viewer: string;
  /** Null for a token of nobody. In constant time, also for tokens of another length. */
  identify(token: string): Identity | null;
  /** A new one for an actor; throws `ipc/tokens` when too many are good. */
  issue(run: string, actor: string): string;
}

const newToken = (): string => randomBytes(32).toString('hex');
const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export function makeTokenBook(): TokenBook {
  const person = newToken();
  const viewer = newToken();
  const fixed: readonly (readonly [Buffer, Identity])[] = [
    [digestOf(person), { role: 'person' }],
    [digestOf(viewer), { role: 'viewer' }],
  ];
  /** By the digest of the token: how long a look-up takes says nothing of the token. */
  const actors = new Map<string, Identity>();
  return {
    person,
    viewer,
    identify(token) {
      const digest = digestOf(token);
      let found: Identity | null = actors.get(digest.toString('hex')) ?? null;
      for (const [one, identity] of fixed) if (timingSafeEqual(one, digest)) found = identity;
      return found;
    },
    issue(run, actor) {
      if (actors.size >= IPC_LIMITS.actorTokensMax) {
        throw new TroupeError({
          code: 'ipc/tokens',
          message: `${IPC_LIMITS.actorTokensMax} tokens for actors are good already`,
          hint: 'They end with the supervisor.',
        });
      }
      const token = newToken();
      actors.set(digestOf(token).toString('hex'), { role: 'actor', run, actor });
      return token;
    },
  };
}

/** Null when it may be called. Asked before anything of the parameters is looked at. */
export function refusalOf(role: Role, method: MethodName): ErrorShape | null {
  const info = Object.hasOwn(METHOD_INFO, method) ? METHOD_INFO[method] : undefined;
  if (info?.roles.includes(role) === true) return null;
  return {
    code: 'ipc/role',
    message: `${method} is not for the role ${role}`,
    ...(info === undefined ? {} : { hint: `It is for: ${info.roles.join(', ')}.` }),
    data: { role, method },
  };
}

/** An actor's parameters, narrowed to itself; an error when they name another run or actor. Those of others as they are. */
export function narrowed<P>(
  identity: Identity,
  method: MethodName,
  params: P,
): { readonly params: P } | { readonly refused: ErrorShape } {
  const { bound } = METHOD_INFO[method];
  if (identity.role !== 'actor' || bound === undefined) return { params };
  const { run, actor } = identity;
  const given = params as Readonly<Record<string, unknown>>;
  const named = bound === 'actor' ? [given['actor']] : bound === 'actors' ? given['actors'] : [];
  const others = Array.isArray(named) ? named.filter((name) => name !== actor) : [];
  const isElsewhere = given['run'] !== undefined && given['run'] !== run;
  if (isElsewhere || others.length > 0) {
    const message = `this token is for ${actor} in the run ${run}, and for nothing else`;
    return { refused: { code: 'ipc/role', message, data: { role: 'actor', method } } };
  }
  const own = bound === 'actor' ? { actor } : bound === 'actors' ? { actors: [actor] } : {};
  return { params: { ...params, run, ...own } };
}
