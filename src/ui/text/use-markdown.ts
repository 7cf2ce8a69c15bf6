import {type ComponentType, useEffect, useState} from 'react';
import type {MarkdownProps} from './markdown.tsx';

/** `isReady` says that finished text can be drawn: with the renderer, or without it if it can't be loaded. */
export interface LoadedMarkdown {
  readonly isReady: boolean;
  readonly Markdown: ComponentType<MarkdownProps> | undefined;
}

/** Loads the markdown renderer once it is wanted: nothing of it is needed for the first frame. */
export function useMarkdown(isWanted: boolean): LoadedMarkdown {
  const [loaded, setLoaded] = useState<LoadedMarkdown>({isReady: false, Markdown: undefined});
  useEffect(() => {
    if (!isWanted) return;
    import('./markdown.tsx').then(
      ({createMarkdown}) => setLoaded({isReady: true, Markdown: createMarkdown()}),
      () => setLoaded({isReady: true, Markdown: undefined}),
    );
  }, [isWanted]);
  return loaded;
}
