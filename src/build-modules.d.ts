/** Prompts and tool descriptions are prose files, bundled as strings. */
declare module '*.md' {
  const text: string;
  export default text;
}

interface ImportMeta {
  /** The build replaces the call by the named export of each file that the pattern finds, by the file's path. */
  glob<T>(pattern: string, options: {eager: true; import: string}): Readonly<Record<string, T>>;
}
