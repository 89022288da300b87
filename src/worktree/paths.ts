/** Absolute POSIX paths as text; pure. */

export function join(base: string, relative: string): string {
  return base.endsWith('/') ? `${base}${relative}` : `${base}/${relative}`;
}

export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Resolves `.` and `..` as text; `path` may be relative to `base`. */
export function normalize(base: string, path: string): string {
  const whole = path.startsWith('/') ? path : join(base, path);
  const kept: string[] = [];
  for (const part of whole.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') kept.pop();
    else kept.push(part);
  }
  return `/${kept.join('/')}`;
}

/** `path` is `folder` or lies under it. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** Some excluded path is `path` or a folder above it. All are relative. */
export function isExcluded(path: string, exclude: readonly string[]): boolean {
  return exclude.some((excluded) => isWithin(excluded, path));
}
