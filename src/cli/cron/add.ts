/** `troupe cron add NAME`. */
import { checkJob, localZone } from '../../control/index.ts';
import { type JobWish, newJob } from '../../cron/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { CronCatchUp, CronNotify, CronWork } from '../../protocol/cron.ts';
import { CRON_OVERLAPS } from '../../protocol/cron.ts';
import { POLICY_MODES } from '../../protocol/index.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { amount, flag, positive, text, time } from '../options.ts';
import { countdown } from '../text/time.ts';
import { edit, nameIn, nobody } from './edit.ts';

export async function add(
  context: Context,
  words: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const wish = wishOf(nameIn(words, 'add'), options, context.io.cwd);
  const workspace = await context.workspace();
  const { clock, random } = workspace.deps;
  const now = clock.now();
  const { job, timetable } = newJob(wish, { at: now, id: random.id(8) });
  await checkJob(workspace, job);
  const { armed } = await edit(context, workspace, { type: 'add', job });
  const next = timetable.next(now);
  const nextAt = next === null ? null : new Date(next).toISOString();
  if (context.json) context.printJson({ name: job.name, nextAt, armed });
  else {
    const when = next === null ? '' : `: next at ${nextAt} (${countdown(next - now)})`;
    context.print(`Added ${job.name}${when}.\n`);
    if (!armed) context.print(`${nobody(context)}\n`);
  }
  return EXIT.ok;
}

function wishOf(name: string, options: OptionValues, cwd: string): JobWish {
  return {
    name,
    schedule: text(options, 'schedule'),
    at: text(options, 'at'),
    everyMs: time(options, 'every', '--every'),
    tz: text(options, 'tz') ?? localZone(),
    work: workOf(options, cwd),
    overlap: oneOf(options, 'overlap', CRON_OVERLAPS) ?? 'skip',
    catchUp: catchUpOf(text(options, 'catchUp')),
    onCrash: oneOf(options, 'onCrash', ['resume', 'record'] as const) ?? 'resume',
    jitterMs: time(options, 'jitter', '--jitter') ?? 0,
    start: text(options, 'start'),
    end: text(options, 'end'),
    maxRuns: positive(options, 'maxRuns', '--max-runs') ?? null,
    timeLimitMs: time(options, 'timeLimit', '--time-limit') ?? null,
    budgetUsd: amount(options, 'budgetUsd', '--budget-usd') ?? null,
    model: modelOf(text(options, 'model'), cwd),
    mode: oneOf(options, 'mode', POLICY_MODES) ?? null,
    attended: flag(options, 'attended'),
    notify: notifyOf(options),
    by: 'user',
  };
}

function workOf(options: OptionValues, cwd: string): CronWork {
  const [team, prompt, to, command] = ['team', 'prompt', 'to', 'command'].map((one) =>
    text(options, one),
  );
  if ([team, prompt, to, command].filter((one) => one !== undefined).length !== 1) {
    throw usageError(
      'what is to be done?',
      'Give one of --team FILE, --prompt TEXT, --to ACTOR and --command CMD.',
    );
  }
  const said = text(options, 'text');
  const agent = text(options, 'agent');
  if ((said !== undefined) !== (to !== undefined)) {
    throw usageError('--to and --text go together', "For example --to lead --text 'Check it'.");
  }
  if ((agent !== undefined) !== (prompt !== undefined)) {
    throw usageError('--prompt and --agent go together', 'For example --agent implementer.');
  }
  if (team !== undefined) return { kind: 'team', file: absolute(team, cwd) };
  if (prompt !== undefined) return { kind: 'prompt', text: prompt, agent: agent ?? '' };
  if (command !== undefined) return { kind: 'command', command };
  return { kind: 'mail', to: to ?? '', text: said ?? '', run: text(options, 'run') ?? null };
}

function absolute(path: string, cwd: string): string {
  return path.startsWith('/') ? path : `${cwd}/${path.replace(/^\.\//, '')}`;
}

/** Scripts are looked for from here, not from wherever the job runs. */
function modelOf(model: string | undefined, cwd: string): string | null {
  if (model === undefined) return null;
  const script = /^scripted\/(.*)$/.exec(model)?.[1];
  return script === undefined ? model : `scripted/${absolute(script, cwd)}`;
}

function catchUpOf(given: string | undefined): CronCatchUp {
  if (given === undefined || given === 'one') return { kind: 'one' };
  if (given === 'skip') return { kind: 'skip' };
  const [, max] = /^all(?:[:(](\d{1,3})\)?)?$/.exec(given) ?? [null];
  if (max === null) {
    throw usageError(
      `there is no catch-up ${JSON.stringify(given)}`,
      'There is: skip, one, all:N.',
    );
  }
  return { kind: 'all', max: Number(max ?? 10) };
}

function oneOf<T extends string>(
  options: OptionValues,
  name: string,
  known: readonly T[],
): T | undefined {
  const given = text(options, name);
  if (given === undefined) return undefined;
  const found = known.find((one) => one === given);
  if (found !== undefined) return found;
  throw usageError(
    `there is no ${name} ${JSON.stringify(given)}`,
    `There is: ${known.join(', ')}.`,
  );
}

function notifyOf(options: OptionValues): CronNotify | null {
  const command = text(options, 'notifyCommand');
  const url = text(options, 'notifyWebhook');
  const host = text(options, 'notifyHost');
  if (command !== undefined && url !== undefined) {
    throw usageError('a job has one notice', 'Choose --notify-command or --notify-webhook.');
  }
  if (command !== undefined) return { kind: 'command', command };
  if (url === undefined) return null;
  return { kind: 'webhook', url, hosts: host === undefined ? [] : [host] };
}
