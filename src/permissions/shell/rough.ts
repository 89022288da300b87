/**
 * What can be said of text that does not parse, is too long, or is a program in another language: which names stand in
 * it. Used for deny only; nothing is ever allowed by it.
 */
import { DENIED_WORDS } from '../git-floor.ts';

const GIT_WORDS = new RegExp(`\\b(git|${DENIED_WORDS.join('|')})\\b`, 'gi');
/** A denied word this near behind `git` is taken for its subcommand. */
const NEAR = 200;
const ROUGH_TROUPE = /(^|[\s;&|('"`/\\])troupe(\.js)?['"]?[\s,]+['"]?[a-z-]/i;
const ROUGH_CONTROL =
  /(^|[\s'"(=/])\.git\/(hooks|config|info|head|index|refs|objects|troupe|[\w.-]*\.lock)/i;

export const TROUPE_DENIED = 'actors do not run troupe; use the team tools';
const GIT_FILES = 'files inside .git are changed by git and Troupe only';

/** For text that can't be read as commands: any mention will do. Null: nothing against it. */
export function roughFloor(text: string): string | null {
  let git = -1;
  for (const match of text.matchAll(GIT_WORDS)) {
    const word = match[1]?.toLowerCase() ?? '';
    if (word === 'git') git = match.index;
    else if (git >= 0 && match.index - git <= NEAR) {
      return `it seems to run git ${word}, which is denied`;
    }
  }
  if (ROUGH_CONTROL.test(text)) return GIT_FILES;
  return ROUGH_TROUPE.test(text) ? TROUPE_DENIED : null;
}

/** Runs of words between operators, quotes taken away: candidates for commands. */
export function roughCommands(text: string, most: number): string[][] {
  const found: string[][] = [];
  for (const piece of text.replaceAll('\\\n', '').split(/[;&|\n()`{}]+|\$\(|<\(|>\(/)) {
    const words = piece
      .replaceAll(/['"\\]/g, '')
      .split(/[\s<>]+/)
      .filter((word) => word !== '');
    const start = words.findIndex(
      (word) => !/^(if|then|else|elif|do|while|until|!|time|coproc|[A-Za-z_]\w*=.*)$/.test(word),
    );
    if (start >= 0) found.push(words.slice(start));
    if (found.length >= most) break;
  }
  return found;
}
