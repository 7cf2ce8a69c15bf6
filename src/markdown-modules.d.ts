/** Prompts and tool descriptions are prose files, bundled as strings. */
declare module '*.md' {
  const text: string;
  export default text;
}
