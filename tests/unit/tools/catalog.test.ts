import { expect, test } from 'vitest';
import { asActorName } from '../../../src/kernel/index.ts';
import {
  parseCall,
  TOOL_NAMES,
  toolNamed,
  toolSpecs,
  toolsForKind,
} from '../../../src/tools/index.ts';
import { call, contextOf } from './call.ts';

const check = (name: string, input: unknown): string => {
  const parsed = parseCall({ name, input }, TOOL_NAMES);
  return parsed.kind === 'ok' ? 'ok' : `${parsed.kind}: ${parsed.text}`;
};

test('the parameters of each tool are those of the agreement', () => {
  const table = toolSpecs(TOOL_NAMES).map((spec) => {
    const { properties, required, additionalProperties } = spec.parameters as {
      properties: object;
      required?: string[];
      additionalProperties: boolean;
    };
    expect(additionalProperties).toBe(false);
    expect(spec.description.length).toBeGreaterThan(30);
    const names = Object.keys(properties).map((key) => (required?.includes(key) ? key : `${key}?`));
    return `${spec.name} ${names.join(' ')} (${toolNamed(spec.name)?.where})`;
  });
  expect(table).toMatchInlineSnapshot(`
    [
      "read_file path offset? limit? (thread)",
      "list_dir path? (thread)",
      "glob pattern path? (thread)",
      "grep pattern path? glob? ignore_case? context? (thread)",
      "write_file path content (thread)",
      "edit_file path old_text new_text replace_all? (thread)",
      "multi_edit path edits (thread)",
      "load_skill name arguments? (thread)",
      "memory_read query? (thread)",
      "memory_append text (supervisor)",
      "web_fetch url (thread)",
      "bash command timeout_ms? background? (supervisor)",
      "bash_output id offset? (supervisor)",
      "bash_wait id timeout_ms? (supervisor)",
      "bash_kill id (supervisor)",
      "send_message to text lane? (supervisor)",
      "check_inbox  (thread)",
      "create_task id title prompt? run? needs? agent? touches? verify? (supervisor)",
      "list_tasks  (supervisor)",
      "get_task id (supervisor)",
      "claim_task id (supervisor)",
      "complete_task summary task? (supervisor)",
      "fail_task reason task? (supervisor)",
      "task prompt agent? background? (supervisor)",
      "todo_write items (thread)",
      "todo_read  (thread)",
      "note_save text (thread)",
      "compact focus? (thread)",
      "spawn_teammate name agent prompt? (supervisor)",
      "team_status  (supervisor)",
      "request_plan from about (supervisor)",
      "submit_plan plan task? (supervisor)",
      "review_plan id approve feedback? (supervisor)",
      "request_shutdown name reason? (supervisor)",
      "schedule_cron name schedule tz? prompt agent? once? durable? (supervisor)",
      "list_crons  (supervisor)",
      "cancel_cron name (supervisor)",
    ]
  `);
});

test('wrong, missing and unknown parameters are told by their path', () => {
  expect(check('read_file', { path: 'a', lines: 3 })).toBe(
    'invalid: read_file was not run, its parameters are invalid:\n- lines: unknown parameter',
  );
  expect(check('write_file', { path: 3 })).toContain('- path: Invalid input: expected string');
  expect(check('write_file', { path: 3 })).toContain('- content: ');
  expect(check('create_task', { id: 'A b', title: 't', run: 'x', needs: [1] })).toContain(
    '- needs[0]: ',
  );
  expect(check('create_task', { id: 'a', title: 't' })).toContain('either prompt or run');
  expect(check('bash', { command: 'x', background: 1 })).toContain('- background: ');
  const hour = { command: 'x', timeout_ms: 3_600_000 };
  expect(check('bash', hour)).toContain('- timeout_ms: at most 1800000 without background');
  expect(check('bash', { ...hour, background: true })).toBe('ok');
  expect(check('list_tasks', 'all')).toContain('- (input): ');
});

test('an unknown tool lists near names, or what there is', () => {
  expect(check('read_fil', {})).toBe('unknown: unknown tool "read_fil"; did you mean read_file?');
  const parsed = parseCall({ name: 'bash', input: { command: 'x' } }, ['grep', 'glob']);
  expect(parsed).toEqual({
    kind: 'unknown',
    text: 'you do not have the tool "bash"; you have: grep, glob',
  });
});

test('a subagent has no hand in the tasks and starts no subagent of its own, unless it may', () => {
  const names = toolsForKind('subagent');
  for (const name of ['create_task', 'claim_task', 'complete_task', 'fail_task', 'task']) {
    expect(names).not.toContain(name);
  }
  expect(names).toContain('edit_file');
  expect(toolsForKind('subagent', { spawn: true })).toContain('task');
  expect(toolsForKind('teammate', { spawn: false })).not.toContain('task');
  expect(toolsForKind('lead')).toEqual(TOOL_NAMES);
});

test('check_inbox tells what will follow', async () => {
  expect(await call('check_inbox', {}, contextOf(null))).toBe('no new messages');
  const item = (n: number) =>
    ({ n, from: asActorName('bo'), type: 'chat.message', text: `text ${n}\nof more` }) as const;
  const two = { waiting: [item(3), item(4)], seen: [item(1), item(2)] };
  expect(await call('check_inbox', {}, contextOf(null, { inbox: () => two }))).toBe(
    [
      '2 new messages follow after the results of your calls:',
      '- #3 from bo · chat.message: text 3 of more',
      '- #4 from bo · chat.message: text 4 of more',
      '2 seen before, the last of them:',
      '- #1 from bo · chat.message: text 1 of more',
      '- #2 from bo · chat.message: text 2 of more',
    ].join('\n'),
  );
  const long = { ...item(1), text: 'x'.repeat(100_000) };
  const many = { waiting: Array.from({ length: 1000 }, () => long), seen: [] };
  const shown = await call('check_inbox', {}, contextOf(null, { inbox: () => many }));
  expect(shown).toContain('… and 980 more');
  expect(shown.length).toBeLessThan(5_000);
});
