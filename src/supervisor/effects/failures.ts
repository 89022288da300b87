/** What a failure of git or of the disk means for a run, and how it is told. */
import { EXIT, ensureError, isTroupeError, systemCode, TroupeError } from '../../kernel/index.ts';

const NO_SPACE = /\b(?:ENOSPC|EDQUOT)\b|no space left on device|disk quota exceeded/i;
const NO_STORAGE = /\b(?:EROFS|EIO)\b|read-only file system/i;

/** A disk that takes nothing more is nobody's failed attempt: it stops the run (exit 75), which is resumed later. */
export function requireStorage(thrown: unknown): void {
  const text = `${systemCode(thrown)} ${ensureError(thrown).message}`;
  const isFull = NO_SPACE.test(text);
  if (!isFull && !NO_STORAGE.test(text)) return;
  throw new TroupeError({
    code: isFull ? 'supervisor/full' : 'supervisor/storage',
    message: `The disk takes nothing more: ${ensureError(thrown).message}`,
    hint: 'Make room, then `troupe resume`.',
    exit: EXIT.storage,
    cause: thrown,
  });
}

export function messageOf(thrown: unknown): string {
  const error = ensureError(thrown);
  if (isTroupeError(error) && error.hint !== undefined) return `${error.message}. ${error.hint}`;
  return error.message;
}
