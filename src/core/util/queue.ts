/**
 * Runs one piece of work after the other, in the order in which they are given.
 * @returns a function that resolves with the result of its work, or rejects with its error
 */
export function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    // The caller gets the error; those that wait here only need to know the end.
    last = done.catch(() => undefined);
    return done;
  };
}
