import { expect, test } from 'vitest';
import type { ProviderSettings } from '../../../src/config/index.ts';
import type { Message, ProviderRequest } from '../../../src/protocol/index.ts';
import { buildRequest } from '../../../src/providers/anthropic/build-request.ts';
import { PromptCache } from '../../support/model-server/prompt-cache.ts';
import { makeRequest, settingsOf, TOOLS, user } from './line.ts';

const PROFILE = `You are a teammate. ${'These are the rules. '.repeat(40)}`;
const FOUND = `\n\nWhat the repository says: ${'use tabs. '.repeat(40)}`;

function requestOf(
  name: string,
  found: string,
  messages: readonly Message[] = [user('go')],
): ProviderRequest {
  const around = `${PROFILE}${found}`;
  const shared = [...new Set([PROFILE.length, around.length])];
  return makeRequest({ system: `${around}\n\nYou are ${name}.`, shared, messages });
}

function anthropicSettings(): ProviderSettings {
  const settings = settingsOf('{}').models.providers['anthropic'];
  if (settings === undefined) throw new Error('there is no anthropic');
  return settings;
}
const settings = anthropicSettings();
const bodyOf = (request: ProviderRequest): Record<string, unknown> => ({
  ...buildRequest(request, settings).params,
});
const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4);

test('L34: a sibling reads tools, profile and what both found; only what is its own is new', () => {
  const cache = new PromptCache();
  cache.use(bodyOf(requestOf('ada', FOUND))).keep();
  const bo = cache.use(bodyOf(requestOf('bo', FOUND)));
  expect(bo.read).toBeGreaterThan(tokens(PROFILE) + tokens(FOUND) + tokens(TOOLS));
  // Who found something else still reads the profile.
  const cy = cache.use(bodyOf(requestOf('cy', '\n\nanother folder')));
  expect(cy.read).toBeGreaterThan(tokens(PROFILE));
  expect(cy.read).toBeLessThan(bo.read);
});

test('L17: there are never more than four marks, and one is always behind what is shared', () => {
  for (let turns = 0; turns < 40; turns += 1) {
    const messages = Array.from({ length: 2 * turns + 1 }, (_, at): Message => {
      const block = { type: 'text' as const, text: `word ${at}` };
      return at % 2 === 0
        ? { role: 'user', content: [block, block] }
        : { role: 'assistant', content: [block] };
    });
    const body = bodyOf(requestOf('ada', FOUND, messages));
    expect(JSON.stringify(body).match(/cache_control/g)?.length ?? 0).toBeLessThanOrEqual(4);
    const system = body['system'] as { readonly cache_control?: unknown; readonly text: string }[];
    expect(system.map(({ text }) => text).join('')).toContain('You are ada.');
    expect(system.at(-2)?.cache_control).toBeDefined();
    expect(system.at(-1)?.cache_control).toBeUndefined();
  }
});
