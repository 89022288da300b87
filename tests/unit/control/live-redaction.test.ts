/** E2: what a supervisor tells those who watch, token by token and in records, has no secret: by value and by shape. */
import { expect, test } from 'vitest';
import { type LiveControlOptions, makeLiveControl } from '../../../src/control/live-control.ts';
import { makeRedactor } from '../../../src/events/index.ts';
import { asActorName } from '../../../src/kernel/index.ts';
import type { StoredRunRecord, TroupeEvent } from '../../../src/protocol/index.ts';
import type { Supervisor } from '../../../src/supervisor/index.ts';
import { mixed } from '../../support/secret-corpus.ts';
import { makeControlWorld } from './control-world.ts';

/** Of no shape. */
const VALUE = 'orchid lantern 42 & more';
const SHAPE = ['gh', 'p_', mixed(36)].join('');

type OnRecord = Parameters<Supervisor['onRecord']>[0];
type OnLive = Parameters<Supervisor['onLive']>[0];

function watched() {
  const { workspace } = makeControlWorld();
  let tell: { record?: OnRecord; live?: OnLive } = {};
  const supervisor = {
    runs: () => ['r1'],
    onRecord: (take: OnRecord) => (tell = { ...tell, record: take }),
    onLive: (take: OnLive) => (tell = { ...tell, live: take }),
  } as unknown as Supervisor;
  const control = makeLiveControl({
    workspace,
    supervisor,
    redactor: makeRedactor([VALUE]),
    identity: {},
    up: null,
  } as unknown as LiveControlOptions);
  const seen: TroupeEvent[] = [];
  control.tap({ run: 'r1', live: true }, (event) => void seen.push(event));
  const actor = asActorName('ada');
  return {
    seen,
    say: (data: string) =>
      tell.live?.('r1', { actor, incarnation: 1, type: 'text', data } as never),
    record: (record: Partial<StoredRunRecord>) =>
      tell.record?.('r1', {
        s: 7,
        d: 6,
        k: 'note',
        a: actor,
        at: '2026-01-01T00:00:00.000Z',
        ...record,
      } as never),
    /** All that was told, as one text; fragments joined. */
    shown: () => ({
      all: JSON.stringify(seen),
      text: seen.map(({ data }) => (data as { text?: string }).text ?? '').join(''),
    }),
  };
}

test.each([1, 3, 7, 1_000])('fragments of %d characters', (size) => {
  const { say, shown } = watched();
  const said = `I log in with ${VALUE}, or ${SHAPE} if need be. And go on.\n`;
  for (let at = 0; at < said.length; at += size) say(said.slice(at, at + size));
  const { all, text } = shown();
  expect(text).toContain('I log in with [redacted]');
  for (const secret of [VALUE, SHAPE, 'lantern 42', SHAPE.slice(-20)])
    expect(all).not.toContain(secret);
});

test('records', () => {
  const { record, shown } = watched();
  record({
    mail: [
      {
        id: 'm1',
        from: 'ada',
        to: 'user',
        type: 'chat.message',
        lane: 'normal',
        n: 1,
        body: { text: `It is "${VALUE}", or ${SHAPE}, or ${encodeURIComponent(VALUE)}` },
      } as never,
    ],
  });
  const { all } = shown();
  expect(all).toContain('[redacted]');
  for (const secret of [VALUE, SHAPE, encodeURIComponent(VALUE)]) expect(all).not.toContain(secret);
});
