/**
 * What has to be known of the disk before a call is judged. A decision is pure, so somebody looks first: at the paths that
 * the call names and at the files that rules pin. The looking itself is injected.
 */
import type { CallFacts, PathFact, PolicySnapshot } from '../protocol/policy.ts';
import type { Call, DecisionContext } from './decision.ts';
import { factsOf } from './facts.ts';
import { type Spot, spotsOf } from './file-uses.ts';
import { PATHS_LOOKED_AT_MAX } from './limits.ts';
import { below, namesOf, type Resolve, showPath } from './paths.ts';

/** The disk, as far as decisions need it. Never waits; what it throws stands for a path that is no file of anybody's. */
export interface Disk {
  /** Absolute path, links followed name by name. */
  look(path: string): PathFact;
  /** SHA-256 in hex of a regular file; null for everything else. */
  hash(path: string): string | null;
}

type Session = Pick<DecisionContext, 'actor' | 'root' | 'cwd' | 'home' | 'attended'>;

/** Looks at what `evaluate` will ask for, and at no more than a person could mean. Never throws. */
export function factsOfCall(
  call: Call,
  session: Session,
  { pins, disk }: { readonly pins: PolicySnapshot['pins']; readonly disk: Disk },
): CallFacts {
  const look = anchored(safely(disk), session);
  const paths: Record<string, PathFact> = {};
  for (const path of pathsOfCall(call, session)) {
    const fact = look(path);
    if (fact !== null) paths[path] = fact;
  }
  return { paths, pins: hashesOf(session.root, Object.keys(pins), disk) };
}

/** P7: a look that fails is no reason to take a name for what it says. */
function safely(disk: Disk): Resolve {
  return (path): PathFact => {
    try {
      return disk.look(path);
    } catch {
      return { path, kind: 'special', links: 1 };
    }
  };
}

/** Hashes of files by their path in a tree; null: it is no regular file. Grants and rules pin files this way. */
export function hashesOf(
  root: string,
  files: readonly string[],
  disk: Pick<Disk, 'hash'>,
): Record<string, string | null> {
  return Object.fromEntries(files.map((file) => [file, hashOf(`${root}/${file}`, disk)]));
}

function hashOf(path: string, disk: Pick<Disk, 'hash'>): string | null {
  try {
    return disk.hash(path);
  } catch {
    return null;
  }
}

function pathsOfCall(call: Call, session: Session): readonly string[] {
  const paths = new Set<string>();
  const spots: Spot[] = [];
  const resolve = (path: string): null => {
    if (paths.size < PATHS_LOOKED_AT_MAX) paths.add(path);
    return null;
  };
  for (const use of factsOf(call.tool, call.input, session).reading.uses) {
    spotsOf(use, { ...session, resolve }, spots);
    if (paths.size >= PATHS_LOOKED_AT_MAX) break;
  }
  return [...paths];
}

/**
 * Root and home of a session may themselves be reached through links. What a path leads to is told as it would be named
 * below them, so that it is found to be inside, and so that the floor knows the home in either form.
 */
export function anchored(look: Resolve, at: Pick<DecisionContext, 'root' | 'home'>): Resolve {
  const anchors = [at.root, ...(at.home === null ? [] : [at.home])].flatMap((path) => {
    const real = look(path)?.path ?? path;
    const [names, named] = [namesOf(real), namesOf(path)];
    return names.length === 0 || showPath(names) === showPath(named) ? [] : [{ names, named }];
  });
  if (anchors.length === 0) return look;
  return (path) => {
    const found = look(path);
    if (found === null) return null;
    const names = namesOf(found.path);
    for (const anchor of anchors) {
      const inner = below(anchor.names, names);
      if (inner !== null) return { ...found, path: showPath([...anchor.named, ...inner]) };
    }
    return found;
  };
}
