import {describe, expect, it} from 'vitest';
import {decodeReply, isTextType, type WebReply} from '../../../src/tools/web/web-request.ts';
import {webSearchTool} from '../../../src/tools/web/web-search.ts';
import {fixture} from '../fixture.ts';
import {fetcher, page, webServer} from './web-server.ts';

const decode = (body: Buffer | string | undefined, change: Partial<WebReply> = {}) =>
  decodeReply(
    {
      ...{url: new URL('https://example.com/'), status: 200, statusText: 'OK', type: 'text/plain', charset: undefined},
      ...{length: undefined, body: typeof body === 'string' ? Buffer.from(body, 'latin1') : body, ...change},
    },
    new AbortController().signal,
  );

describe('a page', () => {
  it('is text by its type, or by its content where it has none', async () => {
    const types = ['', 'text/css', 'application/ld+json', 'application/yaml', 'image/svg+xml', 'application/sql'];
    expect(types.filter((type) => !isTextType(type))).toEqual([]);
    expect(['image/png', 'application/zip', 'text/', 'application/octet-stream'].filter(isTextType)).toEqual([]);
    expect(await decode(undefined)).toBeUndefined();
    expect(await decode('a\0b', {type: ''})).toBeUndefined();
    expect(await decode(`${'a'.repeat(1024)}\0b`, {type: ''})).toBe(`${'a'.repeat(1024)}b`);
    expect(await decode('a\0b')).toBe('ab');
  });

  it.each<[string, Buffer | string, Partial<WebReply>, string]>([
    ['its byte order mark, little end first', Buffer.from('\ufeffé', 'utf16le'), {charset: 'latin1', type: ''}, 'é'],
    ['its byte order mark, big end first', Buffer.from([0xfe, 0xff, 0, 0xe9]), {type: ''}, 'é'],
    ['the charset of the server', '<meta charset=utf-8>\xe9', {charset: 'latin1'}, '<meta charset=utf-8>é'],
    ['its own charset', '<meta charset="latin1">\xe9', {}, '<meta charset="latin1">é'],
    ['that of its XML', '<?xml version="1.0" encoding="latin1"?>\xe9', {}, '<?xml version="1.0" encoding="latin1"?>é'],
    ['UTF-8, though it says UTF-16', '<meta charset="utf-16">\xc3\xa9', {}, '<meta charset="utf-16">é'],
    ['UTF-8, where it says nothing', '\xc3\xa9', {}, 'é'],
    ['UTF-8, where only one of two bytes is a mark', '\xff\xc3\xa9\xfe', {}, '\ufffdé\ufffd'],
  ])('is decoded by %s', async (_, body, change, text) => {
    expect(await decode(body, change)).toBe(text);
  });

  it('that is HTML becomes markdown, by its type or its beginning', async () => {
    for (const type of ['text/html', 'application/xhtml+xml', '']) {
      expect(await decode('\n<!DOCTYPE html><p><b>bold</b></p>', {type}), type).toBe('**bold**');
    }
    expect(await decode('<html><b>x</b>', {type: 'text/plain'})).toBe('<html><b>x</b>');
    expect(await decode('see <html>', {type: ''})).toBe('see <html>');
  });

  it('is given to a model that answers with its first 100,000 characters, and says so', async () => {
    const {url} = await webServer({'/short': page('text/plain', 'y'), '/': page('text/plain', 'x'.repeat(200_001))});
    const prompts: string[] = [];
    const ask = async ({prompt}: {prompt: string}) => {
      prompts.push(prompt);
      return ' ';
    };
    expect((await fetcher().fetch(url, {prompt: 'what?'}, {ask})).text).toBe(`(no answer from ${url}/)`);
    await fetcher().fetch(`${url}/short`, {prompt: 'what?'}, {ask});
    expect(prompts[0]).toMatch(/x{1000}\n<\/web_page>\n\(The page goes on: 200001 characters in all\.\)/);
    expect(prompts[1]).toBe(`<web_page url="${url}/short">\ny\n</web_page>\n\nThe question: what?`);
  });
});

describe('web_search', () => {
  it('is shown by its question, needs no permission, and is an error where it is run here', async () => {
    const {call, workspace} = fixture();
    expect(webSearchTool.title({query: 'q'}, workspace)).toBe('q');
    expect(webSearchTool.access({query: 'q'}, workspace)).toEqual([]);
    expect(await call(webSearchTool, {query: 'q'})).toMatchObject({isError: true});
  });
});
