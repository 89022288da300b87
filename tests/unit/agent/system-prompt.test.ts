import { expect, test } from 'vitest';
import { systemPrompt } from '../../../src/agent/index.ts';
import { asActorName, asTaskId } from '../../../src/kernel/index.ts';
import type { AgentProfile } from '../../../src/protocol/index.ts';

const profile: AgentProfile = {
  name: 'implementer',
  description: 'writes code',
  prompt: 'You write small changes.',
  model: null,
  tools: null,
  restart: 'transient',
};

const roster = [
  { name: asActorName('lead'), kind: 'lead', profile: 'lead', description: 'plans' },
  { name: asActorName('ada'), kind: 'teammate', profile: 'implementer', description: '' },
] as const;

test('the system prompt says who one is, who the others are, and how work ends', () => {
  const { shared, own } = systemPrompt({
    profile,
    actor: asActorName('ada'),
    kind: 'teammate',
    roster,
    goal: 'Green tests.',
  });
  const prompt = `${shared}\n\n${own}`;
  expect(prompt).toContain('You are ada, a teammate');
  expect(prompt).toContain('You write small changes.');
  expect(prompt).toContain('complete_task');
  expect(prompt).toContain('- lead (lead, lead): plans');
  expect(prompt).not.toContain('- ada (');
  expect(prompt).toContain('Green tests.');
});

test('it is the same each time, and has no empty parts', () => {
  const options = {
    profile: { ...profile, prompt: ' ' },
    actor: asActorName('sub-1'),
    kind: 'subagent',
    roster: [],
    goal: null,
    task: { id: asTaskId('parser'), title: 'Fix it' },
  } as const;
  expect(systemPrompt(options)).toEqual(systemPrompt(options));
  const { shared, own } = systemPrompt(options);
  expect(`${shared}\n\n${own}`).not.toMatch(/\n{3}|undefined|null/);
  expect(own).toContain('task parser: Fix it');
});

test('L34: siblings begin with the same words, and who is hired later changes none of them', () => {
  const common = { profile, kind: 'teammate', goal: 'Green tests.', skills: 'Skills: …' } as const;
  const bo = { name: asActorName('bo'), kind: 'teammate', profile: 'x', description: '' } as const;
  const ada = systemPrompt({ ...common, roster, actor: asActorName('ada') });
  const later = systemPrompt({ ...common, roster: [...roster, bo], actor: asActorName('bo') });
  expect(later.shared).toBe(ada.shared);
  expect(ada.shared).toContain('Green tests.');
  expect(ada.shared).not.toContain('ada');
  expect(later.own).not.toBe(ada.own);
});
