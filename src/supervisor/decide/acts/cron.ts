/**
 * `schedule_cron`, `list_crons`, `cancel_cron`.
 *
 * Invariants
 * - C12 A job of an actor has no more rights than its author: one that comes back to it is its own mail, and one that
 *   outlives the run needs a person's yes each time (or a person's rule), has the profile, rules and rest of the money of
 *   that run, and nobody who answers asks.
 */

import { parseDuration } from '../../../config/index.ts';
import { type JobWish, newJob } from '../../../cron/index.ts';
import { isoTime, isTroupeError } from '../../../kernel/index.ts';
import type { CronJob, RunJob } from '../../../protocol/index.ts';
import type { Draft } from '../../draft.ts';
import { RUN_JOBS_MAX } from '../../limits.ts';
import type { Asking } from '../asking.ts';
import { noteGrantUse, putAsk } from '../asks/put.ts';
import { judgeJob, sourceOf } from '../judging.ts';
import { finishAct } from '../results.ts';
import { timetableOfJob } from '../run-jobs.ts';
import { type Act, type Input, text } from './act.ts';

export function scheduleCron(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor, facts, happening } = asking;
  const refuse = (why: string): Draft => finishAct(asking, draft, act, { ok: false, text: why });
  const name = text(input, 'name');
  const agent = input['agent'] === undefined ? null : text(input, 'agent');
  const durable = input['durable'] ?? agent !== null;
  if (agent !== null && durable === false) return refuse(NOT_BOTH);
  const profile = agent ?? facts.profile.name;
  if (durable === true && !Object.hasOwn(state.file.team.agents, profile)) {
    const choices = Object.keys(state.file.team.agents).toSorted().join(', ');
    return refuse(`there is no agent profile "${profile}"; choose one of: ${choices}`);
  }
  if (state.jobs.has(name)) return refuse(`there is a job "${name}" already: cancel it first`);
  if (state.jobs.size >= RUN_JOBS_MAX) {
    return refuse(`this run has ${RUN_JOBS_MAX} jobs, as many as one may; cancel some first`);
  }
  const made = makeJob(asking, { act, input, profile });
  if (typeof made === 'string') return refuse(made);
  const { job, nextAt } = made;
  const judged = judgeJob(asking, { input: act.input, does: durable === true ? job : null });
  if (judged.action === 'ask') return putAsk(asking, draft, act, judged);
  noteGrantUse(asking, draft, judged);
  const { call, tool } = act;
  draft.about('perm', actor).decided({
    actor: actor.name,
    call,
    tool,
    input: act.input,
    effect: judged.action,
    rule: judged.rule,
    reason: judged.reason,
    ...sourceOf(judged),
  });
  if (judged.action === 'deny') return refuse(`not run: ${judged.reason}`);
  if (durable === true) {
    live.acts.set(call, { ...whoOf(asking), call, tool, task: null });
    live.jobs.asked.set(call, runJobOf(asking, job, { input, durable: true }));
    return draft.effect({ type: 'cron.edit', call, edit: { type: 'add', job } });
  }
  draft.cron({ type: 'cron.added', job: runJobOf(asking, job, { input, durable: false }) });
  live.jobs.dirty = true;
  const away = Math.round((nextAt - happening.now) / 1_000);
  const when = `${isoTime(nextAt)} (in ${away} s)`;
  const more = `It comes to you by mail, first at ${when}, as long as this run goes on. You may end your turn.`;
  return finishAct(asking, draft, act, { ok: true, text: `scheduled ${name}. ${more}` });
}

const NOT_BOTH =
  'a job for a profile is a run of its own, so it is durable; without `agent` the prompt comes to you';

function whoOf({ actor, request }: Asking): Pick<Asking['actor'], 'name' | 'incarnation'> & {
  request: number;
} {
  return { name: actor.name, incarnation: actor.incarnation, request };
}

function runJobOf(
  { actor }: Asking,
  job: CronJob,
  { input, durable }: { readonly input: Input; readonly durable: boolean },
): RunJob {
  const once = job.maxRuns === 1;
  const prompt = text(input, 'prompt');
  return { name: job.name, actor: actor.name, timing: job.timing, prompt, once, durable };
}

/** A text: why not. */
function makeJob(
  { state, live, actor, facts, happening }: Asking,
  from: { readonly act: Act; readonly input: Input; readonly profile: string },
): { readonly job: CronJob; readonly nextAt: number } | string {
  const { act, input, profile } = from;
  const { budget } = state.spending;
  const left = budget.usd === null ? null : budget.usd - state.usage.total.costUsd;
  if (left !== null && left <= 0) return 'the money of this run is used up';
  const when = whenOf(text(input, 'schedule'), happening.now);
  const run = state.file.id;
  const wish: JobWish = {
    name: text(input, 'name'),
    ...when,
    tz: text(input, 'tz') || 'UTC',
    work: { kind: 'prompt', text: text(input, 'prompt'), agent: profile },
    overlap: 'skip',
    catchUp: { kind: 'one' },
    onCrash: 'resume',
    jitterMs: 0,
    maxRuns: input['once'] === true || 'at' in when ? 1 : null,
    timeLimitMs: null,
    budgetUsd: left,
    model: null,
    mode: null,
    attended: false,
    notify: null,
    by: `${actor.name} of run ${run}`,
  };
  try {
    const id = live.hash(JSON.stringify([run, act.call])).slice(0, 16);
    const { job, timetable } = newJob(wish, { at: happening.now, id });
    const author = { run, actor: actor.name, profile: facts.profile.name };
    return { job: { ...job, author }, nextAt: timetable.next(happening.now) ?? happening.now };
  } catch (error) {
    if (!isTroupeError(error)) throw error;
    return `${error.message}. ${error.hint ?? ''}`.trim();
  }
}

function whenOf(schedule: string, now: number): Pick<JobWish, 'schedule' | 'at' | 'everyMs'> {
  const [, word = '', rest = ''] = /^(every|in)\s+(\S+)$/.exec(schedule.trim()) ?? [];
  const ms = parseDuration(rest);
  if (word === 'every' && ms !== null) return { everyMs: ms };
  if (word === 'in' && ms !== null) return { at: isoTime(now + ms) };
  return /^\d{4}-\d\d-\d\d/.test(schedule) ? { at: schedule.trim() } : { schedule };
}

export function listCrons(asking: Asking, draft: Draft, act: Act): Draft {
  const { state, live } = asking;
  const lines = [...state.jobs.values()].map((job) => {
    const next = timetableOfJob(live, job).next(Math.max(job.cursor, asking.happening.now));
    const at = next === null ? 'never again' : `next at ${isoTime(next)}`;
    const kind = job.durable
      ? 'a run of its own, while `troupe up` is there'
      : `to ${job.actor}, as long as this run goes on`;
    return `- ${job.name}: ${at}; ${kind}${job.last === null ? '' : `; last ${job.last}`}`;
  });
  const listed = lines.length === 0 ? 'this run has made no jobs' : lines.join('\n');
  return finishAct(asking, draft, act, { ok: true, text: listed });
}

export function cancelCron(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor } = asking;
  const name = text(input, 'name');
  const job = state.jobs.get(name);
  if (job === undefined) {
    const why = `this run has made no job "${name}"; list_crons shows those that it has`;
    return finishAct(asking, draft, act, { ok: false, text: why });
  }
  if (job.durable) {
    const { call, tool } = act;
    live.acts.set(call, { ...whoOf(asking), call, tool, task: null });
    live.jobs.asked.set(call, job);
    return draft.effect({ type: 'cron.edit', call, edit: { type: 'remove', name } });
  }
  draft.cron({ type: 'cron.ended', name, reason: `cancelled by ${actor.name}` });
  return finishAct(asking, draft, act, { ok: true, text: `cancelled ${name}` });
}
