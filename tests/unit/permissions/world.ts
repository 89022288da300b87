/** Decisions in the reference set-up of the table of cases, and under policies written in a test. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatProblem, parsePolicy } from '../../../src/config/index.ts';
import {
  checkPolicy,
  type Decision,
  type DecisionContext,
  evaluate,
  makePolicy,
  type Policy,
} from '../../../src/permissions/index.ts';

export const CORPUS: string = fileURLToPath(new URL('../../corpus/permissions/', import.meta.url));

export const REFERENCE: DecisionContext = {
  actor: 'a1',
  root: '/w/a1',
  home: '/home/u',
  attended: true,
};

/** Problems of a policy as `line:column: path: message`; null when it is fine. */
export function problemsOf(text: string): string[] | null {
  const parsed = parsePolicy(text, checkPolicy);
  if (parsed.kind === 'ok') return null;
  return parsed.problems.map((problem) => formatProblem('p', problem).slice(2));
}

export function policyFrom(text: string, o: { trusted?: boolean } = {}): Policy {
  return makePolicy([layerFrom(text, o)], 'test');
}

export function layerFrom(
  text: string,
  o: { trusted?: boolean; name?: 'admin' | 'user' | 'project' } = {},
): Parameters<typeof makePolicy>[0][number] {
  const parsed = parsePolicy(text, checkPolicy);
  if (parsed.kind !== 'ok') throw new Error(JSON.stringify(parsed.problems));
  return {
    name: o.name ?? 'user',
    origin: 'test',
    file: parsed.policy,
    trusted: o.trusted ?? true,
  };
}

export const referencePolicy: Policy = policyFrom(readFileSync(`${CORPUS}policy.yaml`, 'utf8'));
/** Nothing but the floor stands against a call. */
export const openPolicy: Policy = policyFrom('version: 1\ndefaults: { interactive: allow }\n');

export function bash(
  command: string,
  policy: Policy = referencePolicy,
  over: Partial<DecisionContext> = {},
): Decision {
  return evaluate({ tool: 'bash', input: { command } }, policy, { ...REFERENCE, ...over });
}

export function tool(
  name: string,
  input: unknown,
  policy: Policy = referencePolicy,
  over: Partial<DecisionContext> = {},
): Decision {
  return evaluate({ tool: name, input }, policy, { ...REFERENCE, ...over });
}

const RANK = { allow: 0, ask: 1, deny: 2 } as const;
export const stricter = (a: Decision['action'], b: Decision['action']): boolean =>
  RANK[a] > RANK[b];
