/**
 * Room `memory`: what is known of a repository beyond one run. People write `.troupe/memory/MEMORY.md`, which nothing else
 * writes; what agents note is kept beside the workspace journal. Both are read.
 */
export { ANSWER_CHARS_MAX, FILE_BYTES_MAX, PROMPT_CHARS_MAX } from './limits.ts';
export { formatNote, type Note, parseNotes } from './note.ts';
export { type RecallOptions, recall } from './recall.ts';
export { MemoryStore } from './store.ts';
