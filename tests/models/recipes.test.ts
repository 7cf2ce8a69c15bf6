/** The recipes of docs/models.md, each against a server of its protocol. Bedrock and Vertex: clouds.test.ts. */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {systemClock} from '../../src/core/turn/run-limits.ts';
import {PriceList} from '../../src/models/prices.ts';
import {LOCAL_PROVIDERS, type ProviderSettings} from '../../src/models/providers.ts';
import {ModelResolver} from '../../src/models/resolve.ts';
import {OfflineModel} from '../../src/offline-model/model.ts';
import {startChatServer} from '../support/chat-server.ts';
import {say, startMessagesServer} from '../support/messages-server.ts';
import {getKey} from '../support/request-facts.ts';
import {hello} from './fixture.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/models.md'), 'utf8');
const rows = [...page.matchAll(/^\| ([^|]+?) \| ([^|]+) \| protocol tried \|$/gm)].map(
  ([, name = '', recipe = '']) => ({name, recipe}),
);
const RECIPES = rows.flatMap(({name, recipe}) => {
  const local = /--model (\w+)\/NAME/.exec(recipe)?.[1];
  const written = [...recipe.matchAll(/`(\{[^`]+\})`/g)].map(([, json = '']) => JSON.parse(json) as ProviderSettings);
  const known = local === undefined ? [] : [LOCAL_PROVIDERS[local]!.settings];
  return [...known, ...written].map((settings) => ({name, settings}));
});

it('all rows of the table have one, but for Anthropic’s own server', () => {
  expect(rows.length).toBeGreaterThan(9);
  expect([...new Set(RECIPES.map(({name}) => name))]).toEqual(
    rows.map(({name}) => name).filter((name) => name !== 'Anthropic'),
  );
});

it.each(RECIPES)('$name: $settings', async ({settings}) => {
  const isChat = settings.api === 'openai';
  const server = isChat ? await startChatServer([say('hi')]) : await startMessagesServer([say('hi')]);
  onTestFinished(server.close);
  const models = new ModelResolver({
    env: settings.apiKeyEnv ? {[settings.apiKeyEnv]: 'the-key-12345678'} : {},
    providers: {named: {...settings, baseURL: server.url}},
    ...{
      offline: false,
      offlineModel: new OfflineModel({maxOutputTokens: 100}),
      pauseSeconds: 0,
      maxWaitSeconds: 0,
      clock: systemClock,
    },
    ...{replyLimits: {idleSeconds: 400, thinkingSeconds: 600}, maxOutputTokens: 100, contextWindows: {}},
    ...{prices: new PriceList({}), redactor: new Redactor([])},
  });
  const model = models.resolve('named/some-model');
  expect(await model.reply(hello(), () => undefined)).toMatchObject({
    content: [{text: 'hi'}],
    model: 'named/some-model',
  });
  expect(getKey(server.requests[0])).toBe(settings.apiKeyEnv ? 'the-key-12345678' : 'none');
});
