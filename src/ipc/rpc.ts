/** JSON-RPC 2.0 messages: decoded once, here; encoded as one line. No I/O. */
import { SHAPES_ONLY } from '../events/index.ts';
import type { ErrorShape } from '../kernel/errors.ts';
import { toErrorShape } from '../kernel/errors.ts';
import { nearMatches } from '../kernel/ids.ts';
import type { MethodName, ParamsOf } from '../protocol/wire.ts';
import { methodParams, RPC } from '../protocol/wire.ts';
import { IPC_LIMITS } from './limits.ts';

export type RpcId = string | number | null;

export interface Request {
  readonly kind: 'request';
  /** undefined: a notification, which gets no answer. */
  readonly id: RpcId | undefined;
  readonly method: string;
  readonly params: unknown;
  /** Of its line; of a batch its share. */
  readonly bytes: number;
}

export interface Fault {
  readonly kind: 'fault';
  readonly id: RpcId;
  readonly code: number;
  readonly error: ErrorShape;
}

export type Decoded =
  | Request
  | Fault
  | { readonly kind: 'batch'; readonly items: (Request | Fault)[] };

export function decodeMessage(text: string, batchMax: number): Decoded {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fault(null, RPC.parse, { code: 'ipc/parse', message: 'the line is not JSON' });
  }
  const objection = objectionTo(value);
  if (objection !== null)
    return fault(null, RPC.request, { code: 'ipc/request', message: objection });
  if (!Array.isArray(value)) return decodeOne(value, text.length);
  if (value.length === 0 || value.length > batchMax) {
    const message = `a batch has 1 to ${batchMax} requests, this one has ${value.length}`;
    return fault(null, RPC.request, { code: 'ipc/request', message });
  }
  const share = Math.ceil(text.length / value.length);
  return { kind: 'batch', items: value.map((item) => decodeOne(item, share)) };
}

/** Names that mean something to the language; nothing of ours is called so. */
const NEVER_A_KEY: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Looked at without recursion: what comes may be as deep as a line is long. Null when it can be taken. */
function objectionTo(whole: unknown): string | null {
  let level: unknown[] = [whole];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > IPC_LIMITS.depthMax) return `a message has at most ${IPC_LIMITS.depthMax} levels`;
    const below: unknown[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue;
      if (Array.isArray(value)) {
        for (const item of value) if (typeof item === 'object' && item !== null) below.push(item);
        continue;
      }
      for (const [key, item] of Object.entries(value)) {
        if (NEVER_A_KEY.has(key)) return `no key is called ${JSON.stringify(key)}`;
        if (typeof item === 'object' && item !== null) below.push(item);
      }
    }
    level = below;
  }
  return null;
}

function decodeOne(value: unknown, bytes: number): Request | Fault {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return fault(null, RPC.request, { code: 'ipc/request', message: 'a request is an object' });
  }
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const rawId = fields['id'];
  const idIsFine =
    rawId === undefined || rawId === null || typeof rawId === 'string' || typeof rawId === 'number';
  const id = idIsFine ? rawId : null;
  const method = fields['method'];
  if (fields['jsonrpc'] !== '2.0' || typeof method !== 'string' || !idIsFine) {
    const message = 'a request has jsonrpc "2.0", a method and an id that is text or a number';
    return fault(id ?? null, RPC.request, { code: 'ipc/request', message });
  }
  return { kind: 'request', id, method, params: fields['params'] ?? {}, bytes };
}

export function fault(id: RpcId, code: number, error: ErrorShape): Fault {
  return { kind: 'fault', id, code, error };
}

const methodNames = new Set<string>(Object.keys(methodParams));

export function isMethod(method: string): method is MethodName {
  return methodNames.has(method);
}

export function unknownMethod(id: RpcId, method: string): Fault {
  const near = nearMatches(method, methodNames);
  return fault(id, RPC.method, {
    code: 'ipc/unknown-method',
    message: `there is no method ${JSON.stringify(method.slice(0, 64))}`,
    ...(near.length === 0 ? {} : { hint: `Did you mean ${near.join(', ')}?` }),
    data: { near },
  });
}

export type CheckedParams<M extends MethodName> =
  | { readonly kind: 'params'; readonly params: ParamsOf<M> }
  | Fault;

export function checkParams<M extends MethodName>(
  id: RpcId,
  method: M,
  params: unknown,
): CheckedParams<M> {
  const checked = methodParams[method].safeParse(params);
  if (checked.success) return { kind: 'params', params: checked.data };
  const issues = checked.error.issues.map((issue) => ({
    path: issue.path.join('.'),
    message: issue.message,
  }));
  const first = issues[0];
  const where = first === undefined || first.path === '' ? '' : ` (${first.path})`;
  return fault(id, RPC.params, {
    code: 'ipc/params',
    message: `${method}${where}: ${first?.message ?? 'unusable parameters'}`,
    data: { issues },
  });
}

/** An answer as an object, ready to be put on a line of its own or into a batch. */
export function encodeResult(id: RpcId, result: unknown): object {
  return { jsonrpc: '2.0', id, result };
}

export function encodeFault(it: Fault): object {
  return {
    jsonrpc: '2.0',
    id: it.id,
    error: { code: it.code, message: it.error.message, data: it.error },
  };
}

export function encodeThrown(id: RpcId, thrown: unknown): object {
  // A message may quote what somebody wrote.
  const error = SHAPES_ONLY.data(toErrorShape(thrown));
  return encodeFault(fault(id, error.code === 'internal' ? RPC.internal : RPC.domain, error));
}
