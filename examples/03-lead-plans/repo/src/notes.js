/** Notes in memory; `all()` is what goes into the file. */
export function makeNotes(saved = []) {
  const notes = [...saved];
  return {
    all: () => [...notes],
    add(text) {
      const note = { id: notes.length + 1, text };
      notes.push(note);
      return note;
    },
  };
}
