/** `team_status`: who is there and what waits for whom, in a bounded text. */

import { type Actor, endOf } from '../../../actors/index.ts';
import { counted } from '../../../kernel/counted.ts';
import { mailboxSize } from '../../../mailbox/index.ts';
import { NO_USAGE, totalTokens } from '../../../protocol/index.ts';
import type { Draft } from '../../draft.ts';
import { NOTICE_QUOTE_CHARS, STATUS_ROWS_MAX } from '../../limits.ts';
import { openShutdown } from '../../teamwork.ts';
import { clip } from '../../text.ts';
import type { Asking } from '../asking.ts';
import { gateOf } from '../plan-gate.ts';
import { finishAct } from '../results.ts';
import type { Act } from './act.ts';

export function teamStatus(asking: Asking, draft: Draft, act: Act): Draft {
  const { state } = asking;
  const all = [...state.actors.byName.values()];
  // Of subagents only those at work: their ends were told.
  const members = all.filter((one) => one.kind !== 'subagent' || asking.live.actors.has(one.name));
  const sections = [
    section('Members', members, (one) => memberLine(asking, one)),
    section('Plans that wait for a decision', [...state.team.open], (id) => {
      const plan = state.team.plans.get(id);
      const about = plan?.task == null ? '' : ` for task ${plan.task}`;
      return `${id}${about}: by ${plan?.by}, waits for ${plan?.to}, since ${plan?.at}`;
    }),
    section('Plans that were asked for', [...state.team.openRequests], (id) => {
      const one = state.team.requests.get(id);
      const late = one?.overdue === true ? ' (overdue)' : '';
      const about = clip(one?.about ?? '', NOTICE_QUOTE_CHARS).replaceAll('\n', ' ');
      return `${id}: ${one?.by} waits for ${one?.from}${late}: ${about}`;
    }),
  ];
  const text = sections.filter((one) => one !== '').join('\n\n');
  return finishAct(asking, draft, act, { ok: true, text });
}

function section<T>(head: string, rows: readonly T[], line: (row: T) => string): string {
  if (rows.length === 0) return '';
  const lines = rows.slice(0, STATUS_ROWS_MAX).map((row) => `- ${line(row)}`);
  const more = rows.length - lines.length;
  return [`${head}:`, ...lines, ...(more > 0 ? [`- … and ${more} more`] : [])].join('\n');
}

function memberLine({ state, live }: Asking, one: Actor): string {
  const end = endOf(one);
  const phase = live.actors.get(one.name)?.phase;
  const asleep = one.incarnation === 0 ? 'not started' : 'asleep';
  const ended = end === null ? asleep : `${end.kind}: ${clip(end.text, NOTICE_QUOTE_CHARS)}`;
  const task = state.claims.get(one.name);
  const waiting = mailboxSize(state.mail, one.name).unread;
  const usage = state.usage.byActor.get(one.name) ?? NO_USAGE;
  const asked = openShutdown(state.team, one.name);
  const gate = one.kind === 'subagent' ? null : gateOf(state, one.name);
  const parts = [
    `${one.name} (${one.kind}, ${one.profile.name}${one.parent === null ? '' : `, of ${one.parent}`})`,
    phase ?? ended.replaceAll('\n', ' '),
    ...(task === undefined ? [] : [`task ${task}`]),
    ...(gate === null ? [] : ['plan gate shut']),
    ...(asked === null ? [] : [`shutdown ${asked.state}`]),
    ...(waiting === 0 ? [] : [`${counted(waiting, 'letter')} waiting`]),
    `${totalTokens(usage)} tokens, ${usage.costUsd.toFixed(2)} USD`,
  ];
  return parts.join(' · ');
}
