/** `troupe replay RUN`: the recorded answers once more, without a network; tools really run. */
import {
  compareTrees,
  openRecording,
  prepareReplay,
  readRecords,
  recordingOf,
  removeReplay,
  runOutput,
  type Workspace,
  writeCassette,
} from '../../control/index.ts';
import { counted } from '../../kernel/counted.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { CassetteHeader, RunFile } from '../../protocol/index.ts';
import type { RunRow } from '../../protocol/shapes.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { type Attendance, hostRun } from '../host-run.ts';
import { flag, text } from '../options.ts';
import { ReplayDirector } from '../replay-attend.ts';
import { safeText } from '../text/safe.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const workspace = await context.workspace();
  const name = args[0] ?? '';
  const { cwd } = context.io;
  const target = text(options, 'export');
  if (target !== undefined) return exportTo(context, workspace, { name, target });
  const { file, header, beside } = await prepareReplay(workspace, { name, cwd });
  const playing = { workspace, file, header, keep: flag(options, 'keep') };
  const attend = await attendance(context, playing, 'start');
  return hostRun(context, { workspace, file, beside, notes: [], mode: 'start', attend });
}

async function exportTo(
  context: Context,
  workspace: Workspace,
  what: { readonly name: string; readonly target: string },
): Promise<ExitCode> {
  const { name, target } = what;
  const { cwd } = context.io;
  await openRecording(workspace, { name, cwd });
  const { header, text: lines } = await recordingOf(workspace, name, { redacted: true });
  const path = target.startsWith('/') ? target : `${cwd}/${target}`;
  await writeCassette(workspace, path, lines);
  const { answers, actors } = header;
  if (context.json) context.printJson({ run: name, file: path, answers, actors, redacted: true });
  else {
    context.print(
      `${target}: ${counted(answers, 'answer')} of ${counted(actors, 'actor')}, secrets taken out.\n` +
        `Play it in a clone that has the commit ${header.baseCommit.slice(0, 10)}: troupe replay ${target}\n`,
    );
  }
  return EXIT.ok;
}

export interface Playing {
  readonly workspace: Workspace;
  readonly file: RunFile;
  readonly header: CassetteHeader;
  readonly keep: boolean;
}

export async function attendance(
  context: Context,
  playing: Playing,
  mode: 'start' | 'resume',
): Promise<Attendance> {
  const { workspace, file, header } = playing;
  const director = new ReplayDirector(file.id, header);
  const before = mode === 'resume' ? await readRecords(workspace, file.id) : [];
  return {
    begin: (supervisor) => director.begin(supervisor, before),
    tell: (row) => tell(context, { playing, director, row }),
  };
}

interface Told {
  readonly playing: Playing;
  readonly director: ReplayDirector;
  readonly row: RunRow;
}

async function tell(context: Context, told: Told): Promise<ExitCode> {
  const { playing, director, row } = told;
  const { workspace, file, header } = playing;
  if (row.state === 'interrupted' && !director.reachedEnd && director.stalled === null) {
    if (context.json) context.printJson({ run: file.id, of: header.cassette, same: null });
    else
      context.print(`\nStopped. Go on with it: ${context.command(`troupe resume ${file.id}`)}\n`);
    return EXIT.interrupted;
  }
  const difference = differenceOf(told);
  const whole = await wholeDifference(workspace, file.id, difference);
  const tree = director.reachedEnd ? null : await compareTrees(workspace, file.id, header.tree);
  const { answers } = director;
  if (context.json) {
    const { cassette: of, actors } = header;
    const same = difference === null;
    context.printJson({ run: file.id, of, same, answers, actors, tree, difference, diff: whole });
  } else if (difference !== null) {
    context.print(`\n${safeText(whole ?? difference)}\n`);
    context.print(`${answers} of ${header.answers} answers were given before.\n`);
    context.print(`The replay is kept as ${file.id}.\n`);
  } else {
    const equal = tree === null ? 'not compared' : tree ? 'yes' : 'no';
    context.print(
      `\n${counted(answers, 'answer')} of ${counted(header.actors, 'actor')} replayed, same requests; integration tree equal: ${equal}\n`,
    );
    if (director.reachedEnd) context.print('The recording stops there: its run was cut.\n');
  }
  if (difference === null && !playing.keep) await removeReplay(workspace, file.id);
  return difference === null ? EXIT.ok : EXIT.unfinished;
}

function differenceOf({ playing, director, row }: Told): string | null {
  const { header } = playing;
  if (director.stalled !== null) return `it came to a halt: ${director.stalled}, which never came`;
  if (director.reachedEnd) return null;
  const reason = row.reason?.text ?? '';
  if (/ differs from the recording/.test(reason)) return reason;
  if (row.state !== header.state) {
    return `it ended ${row.state}${reason === '' ? '' : ` (${reason})`}; the recorded run ended ${header.state}`;
  }
  if (director.answers === header.answers) return null;
  return `it ended after ${director.answers} requests; the recorded run made ${header.answers}`;
}

/** With the texts, where they were kept. */
async function wholeDifference(
  workspace: Workspace,
  run: string,
  difference: string | null,
): Promise<string | null> {
  const [, id] = /\(outputs\/(log_[0-9a-z]+)\.log\)/.exec(difference ?? '') ?? [];
  return id === undefined ? null : runOutput(workspace, run, id);
}
