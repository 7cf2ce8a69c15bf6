export function formatName(first: string, last: string, title?: string): string {
  return [title, first, last].filter((part) => part !== undefined).join(' ');
}
