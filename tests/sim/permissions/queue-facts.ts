/** What the queue of asks was seen to do, by those who asked, answered, ran something, or changed the rules. */

export interface SimCall {
  readonly id: string;
  readonly tool: 'bash' | 'write_file' | 'read_file';
  readonly input:
    | { readonly command: string }
    | { readonly path: string; readonly content?: string };
}

/** Rules as they are for a while: `allow` and `deny` are what commands are called by. */
export interface SimPolicy {
  readonly revision: string;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export type Fact =
  /** A new process begins. */
  | { readonly type: 'life' }
  | { readonly type: 'policy'; readonly policy: SimPolicy }
  /** An actor has made a call. */
  | { readonly type: 'requested'; readonly call: string }
  /** A program was started for a command. */
  | { readonly type: 'started'; readonly proc: string; readonly command: string }
  /** A thread was told that it may write; `swapped`: the disk has a link in the way now. */
  | { readonly type: 'permitted'; readonly call: string; readonly swapped: boolean }
  /** A client was told that its answer counts. */
  | {
      readonly type: 'answered';
      readonly ask: string;
      readonly by: string;
      readonly effect: 'allow' | 'deny';
      readonly digest: string | null;
      readonly grant: string | null;
      readonly scope: string;
    }
  | {
      readonly type: 'refused';
      readonly ask: string;
      readonly by: string;
      readonly code: string;
      /** Who was first, as it was told. */
      readonly first: string | null;
    }
  | { readonly type: 'revoked'; readonly grant: string };
