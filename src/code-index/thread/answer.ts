/** Answers one question after another, in the thread. */
import {FactsCache} from '../project/facts-cache.ts';
import {ProjectFiles} from '../project/project-files.ts';
import {Queries} from '../project/queries.ts';
import type {Parse} from '../project/read-entry.ts';
import {planRename} from '../project/rename.ts';
import {SourceParser} from '../syntax/parser.ts';
import type {Message, Question, ThreadOptions} from './messages.ts';
import {createReadFiles} from './read-files.ts';

interface Answerer {
  answer(message: Message): Promise<unknown>;
  /** Keeps what was parsed for later. A disk that is full or read-only is no fault of the answer. */
  save(): void;
}

export function openAnswerer({root, cacheFolder}: ThreadOptions): Answerer {
  const parser = new SourceParser();
  const parse: Parse = (text, language, path) => parser.parse(text, language, path);
  const files = new ProjectFiles(root, createReadFiles(root, parse));
  const queries = new Queries(files);
  const cache = cacheFolder === undefined ? undefined : new FactsCache(cacheFolder);
  let isLoaded = false;
  return {
    async answer({listed, question}) {
      if (!isLoaded) for (const entry of cache?.load() ?? []) files.entries.set(entry.path, entry);
      isLoaded = true;
      if (listed) await files.refresh(listed);
      return ask(question, queries, parse);
    },
    save() {
      try {
        cache?.save(files);
      } catch {
        // What is not kept is parsed again the next time.
      }
    },
  };
}

function ask(question: Question, queries: Queries, parse: Parse): unknown {
  switch (question.ask) {
    case 'definitions':
      return queries.definitions(question.query);
    case 'references':
      return queries.references({...question.query, name: question.query.name ?? ''});
    case 'outline':
      return queries.outline(question.path);
    case 'importers':
      return queries.importers(question.path);
    case 'imports':
      return queries.imports(question.path);
    case 'syntax':
      return queries.syntax(question.path);
    case 'coverage':
      return queries.coverage(question.path);
    case 'inheritance':
      return queries.inheritance(question.query);
    case 'files':
      return queries.listFiles(question.query);
    case 'unusedExports':
      return queries.unusedExports(question.query);
    case 'rename':
      return planRename(question.request, queries, parse);
  }
}
