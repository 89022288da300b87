import { expect, test } from 'vitest';
import {
  eventsOfRun,
  followMail,
  readMail,
  sendMail,
  viewRun,
} from '../../../src/control/index.ts';
import { type BlobRef, BlobStore } from '../../../src/journal/index.ts';
import { asActorName, asEnvelopeId } from '../../../src/kernel/ids.ts';
import type { Mail } from '../../../src/protocol/envelope.ts';
import type { RunRecord } from '../../../src/protocol/record.ts';
import type { MailRow } from '../../../src/protocol/shapes.ts';
import { CRASH_MODES } from '../../../src/testing/index.ts';
import { makeControlWorld, makeRun, makeRunFile } from './control-world.ts';

const AT = '2026-01-01T00:00:00.000Z';
const ada = asActorName('ada');
const ALL = { actors: [], from: 0 };

const started: RunRecord = {
  k: 'run',
  at: AT,
  run: [{ type: 'run.started', run: 'r1', baseCommit: 'b'.repeat(40), term: 1 }],
};
const ended: RunRecord = {
  k: 'run',
  at: AT,
  run: [{ type: 'run.ended', state: 'done', reason: null, commit: 'c'.repeat(40) }],
};

function mail(number: number, to = 'ada'): RunRecord {
  const letter: Mail = {
    to: asActorName(to),
    from: asActorName('user'),
    fromIncarnation: 1,
    e: 1,
    n: number,
    id: asEnvelopeId(`env_${number}`),
    lane: 'normal',
    type: 'chat.message',
    body: { text: `letter ${number}` },
  };
  return { k: 'msg', to: letter.to, at: AT, mail: [letter] };
}

const shown = (rows: readonly MailRow[]): string[] =>
  rows.map((row) => `${row.id} ${row.to} ${row.n} ${row.state}`);

test('mail is read in order with its state now, of some mailboxes, from a sequence number', async () => {
  const world = makeControlWorld();
  await makeRun(world, makeRunFile('r1', AT, ['ada', 'bo']), [
    started,
    mail(1),
    mail(2, 'bo'),
    mail(3),
    { k: 'step', a: ada, at: AT, i: 1, e: 1, took: [1] },
  ]);
  const view = await viewRun(world.workspace, 'r1', 'tail');
  expect(shown(await readMail(world.workspace, view, ALL))).toEqual([
    'env_1 ada 1 seen',
    'env_2 bo 1 accepted',
    'env_3 ada 2 accepted',
  ]);
  expect(shown(await readMail(world.workspace, view, { actors: ['bo'], from: 0 }))).toHaveLength(1);
  const [, , third] = await readMail(world.workspace, view, ALL);
  const later = await readMail(world.workspace, view, { actors: [], from: third!.seq });
  expect(shown(later)).toEqual(['env_3 ada 2 accepted']);
});

test('M8: a letter by reference is shown whole, once or followed; one whose payload is gone is named', async () => {
  const world = makeControlWorld();
  const { files, workspace } = world;
  const text = 'long '.repeat(20_000);
  const blobs = new BlobStore({
    files,
    directory: `${workspace.places.runs}/r1/blobs`,
    hash: workspace.deps.sha256,
  });
  const long = (number: number, ref: BlobRef): RunRecord => {
    const record = mail(number);
    const letters = record.mail?.map((one) => ({ ...one, body: { text: 'long (head)', ...ref } }));
    return { ...record, mail: letters ?? [] };
  };
  const run = await makeRun(world, makeRunFile('r1', AT, ['ada']), [started]);
  const ref = await blobs.put(new TextEncoder().encode(text));
  await run.append(long(1, ref));
  await run.append(long(2, { blob: 'f'.repeat(64), bytes: 9 }));
  await run.append(ended);
  await run.close();
  const view = await viewRun(workspace, 'r1', 'tail');
  const followed: MailRow[] = [];
  const signal = new AbortController().signal;
  for await (const row of followMail(workspace, view, { ...ALL, signal })) followed.push(row);
  for (const rows of [await readMail(workspace, view, ALL), followed]) {
    expect(rows[0]?.body).toEqual({ text, ...ref });
    expect(rows[1]?.body.text).toMatch(
      /^long \(head\)\n\[the rest cannot be read: .*f{64}.*is missing/,
    );
  }
});

test('following gives the backlog, then what comes, each once, and ends with the run', async () => {
  const world = makeControlWorld();
  const run = await makeRun(world, makeRunFile('r1', AT, ['ada']), [started, mail(1), mail(2)]);
  const view = await viewRun(world.workspace, 'r1', 'tail');
  const rows: MailRow[] = [];
  const { signal } = new AbortController();
  const done = (async () => {
    for await (const row of followMail(world.workspace, view, { ...ALL, signal })) rows.push(row);
  })();
  await expect.poll(() => rows.length).toBe(2);
  await run.append(mail(3));
  await run.append(mail(4));
  await run.append(ended);
  await done;
  expect(rows.map((row) => row.id)).toEqual(['env_1', 'env_2', 'env_3', 'env_4']);
});

test('following stops when it is told to', async () => {
  const world = makeControlWorld();
  await makeRun(world, makeRunFile('r1', AT, ['ada']), [started, mail(1)]);
  const view = await viewRun(world.workspace, 'r1', 'tail');
  const stop = new AbortController();
  for await (const row of followMail(world.workspace, view, { ...ALL, signal: stop.signal })) {
    expect(row.id).toBe('env_1');
    stop.abort();
  }
});

test('events come after a cursor and of the types that are asked for', async () => {
  const world = makeControlWorld();
  await makeRun(world, makeRunFile('r1', AT, ['ada']), [started, mail(1), mail(2), ended]);
  const read = async (query: Parameters<typeof eventsOfRun>[2]): Promise<string[]> => {
    const seen: string[] = [];
    for await (const event of eventsOfRun(world.workspace, 'r1', query)) {
      seen.push(`${event.cursor} ${event.type}`);
    }
    return seen;
  };
  const all = await read({ from: null });
  expect(all.map((one) => one.split(' ')[1])).toEqual([
    'run.started',
    'mail.accepted',
    'mail.accepted',
    'run.ended',
  ]);
  const [seq = 0] = all[1]!.split('.').map(Number);
  expect(await read({ from: { seq, index: 0 } })).toEqual(all.slice(2));
  expect(await read({ from: null, type: 'run.*' })).toEqual([all[0], all[3]]);
});

const letter = { run: undefined, to: 'ada', text: 'Hello', interrupt: true };

test('with nobody to take it mail is spooled, whole, under its id', async () => {
  const world = makeControlWorld();
  await makeRun(world, makeRunFile('r1', AT, ['ada']), [started]);
  const sent = await sendMail(world.workspace, letter, () => Promise.reject(new Error('unused')));
  expect(sent).toMatchObject({ run: 'r1', to: 'ada', state: 'spooled' });
  const spool = '/repo/.git/troupe/spool';
  expect(await world.files.list(spool)).toEqual([`${sent.id}.json`]);
  const text = new TextDecoder().decode(await world.files.readFile(`${spool}/${sent.id}.json`));
  expect(JSON.parse(text)).toEqual({ run: 'r1', to: 'ada', lane: 'interrupt', text: 'Hello' });
});

test('spooled mail is durable when it was said to be', async () => {
  const world = makeControlWorld();
  await world.files.makeDirectory('/repo/.git');
  await world.files.syncDirectory('/');
  await world.files.syncDirectory('/repo');
  await makeRun(world, makeRunFile('r1', AT, ['ada']), [started]);
  const { id } = await sendMail(world.workspace, letter, () => Promise.resolve(null));
  for (const mode of CRASH_MODES) {
    const after = world.files.crash(mode);
    expect(await after.list('/repo/.git/troupe/spool'), mode).toEqual([`${id}.json`]);
    expect(await after.stat('/repo/.git/troupe/runs/r1/run.json'), mode).not.toBeNull();
  }
});

test('mail to nobody, or to a run that has ended, is an error and nothing is left', async () => {
  const world = makeControlWorld();
  await makeRun(world, makeRunFile('r1', AT, ['ada']), [started, ended]);
  const nobody = { ...letter, to: 'adda' };
  await expect(
    sendMail(world.workspace, nobody, () => Promise.resolve(null)),
  ).rejects.toMatchObject({ code: 'control/unknown-actor', exit: 5, hint: 'Did you mean ada?' });
  await expect(
    sendMail(world.workspace, letter, () => Promise.resolve(null)),
  ).rejects.toMatchObject({ code: 'control/run-ended' });
  expect(await world.files.stat('/repo/.git/troupe/spool')).toBeNull();
});

test('a supervisor that holds the run but does not answer gets no second letter in the spool', async () => {
  const world = makeControlWorld();
  await makeRun(world, makeRunFile('r1', AT, ['ada']), [started]);
  world.live.holder = { pid: 7, startedAt: AT };
  await expect(
    sendMail(world.workspace, letter, () => Promise.resolve(null)),
  ).rejects.toMatchObject({ code: 'control/silent', exit: 4 });
});

test('mail for all is spooled, mail for a name that nobody reads is explained', async () => {
  const world = makeControlWorld();
  await makeRun(world, makeRunFile('r1', AT, ['ada']), [started]);
  const send = (to: string) =>
    sendMail(world.workspace, { ...letter, to }, () => Promise.resolve(null));
  expect(await send('all')).toMatchObject({ to: 'all', state: 'spooled' });
  for (const name of ['user', 'supervisor', 'broker', 'system']) {
    await expect(send(name)).rejects.toMatchObject({ code: 'control/no-reader', exit: 5 });
  }
});

test('who follows is given each letter as it is after the record that brought it', async () => {
  const world = makeControlWorld();
  const run = await makeRun(world, makeRunFile('r1', AT, ['ada']), [started]);
  const view = await viewRun(world.workspace, 'r1', 'tail');
  const stop = new AbortController();
  const follow = followMail(world.workspace, view, { ...ALL, signal: stop.signal });
  const first = follow.next();
  const id = asEnvelopeId('env_1');
  await run.append({
    ...mail(1),
    dead: [{ n: 1, id, what: 'dead', reason: 'ada is stopped', to: ada }],
  });
  await world.clock.advance(60_000);
  expect((await first).value).toMatchObject({ id, state: 'dead', reason: 'ada is stopped' });
  stop.abort();
  await follow.return(undefined);
});
