/** Answers whose markdown is hard to show while it grows. */

const words = (count: number, word = 'word') => Array.from({length: count}, (_, index) => `${word}${index}`).join(' ');
const repeat = (count: number, line: (index: number) => string) =>
  Array.from({length: count}, (_, i) => line(i)).join('\n');

/** Their marks end in each answer as they began: what a frame shows is the beginning of what is printed. */
export const AWKWARD_ANSWERS: Readonly<Record<string, string>> = {
  'marks in a row':
    'Some **bold**, *it*, ***both***, `code`, ``a ` b``, ~~old~~, __b__ and _i_, **b *i* b**, *i **b***.',
  'a link, an image and addresses':
    'See [the docs](https://a.b/c_d*e) and [**bold** label](x "title"), ![a picture](p.png), <https://d.e/f>, https://g.h/i_j_k.',
  'brackets that are no links':
    'An array a[0] and b[i][j], [x] and [see], an interval [0, 1) and [text][ref].\n\n[ref]: https://a.b',
  'marks that are no marks':
    'So 2 * 3 and 2*3*4, snake_case_name, ~5 to ~6, \\*star\\*, a < b && c > d, 5 | 6, C# and &amp; &lt;x&gt;!',
  headings: '# One\n\nText\n\n## Two **bold** ##\nText\n\nThree\n=====\n\nFour *it*\n---\n\nend',
  'a nested list':
    '1. **one** with `code`\n   - nested *two*\n     - three\n\n       a paragraph in it\n2. four\n   ```ts\n   const a = 1;\n\n   const b = 2;\n   ```\n3. five\n\nafter',
  'a loose list': '- a\n- b\n\n- c **bold**\n\n  more of c\n\n\n- d\n- [ ] to do\n- [x] done\n\n* other list\n\nend',
  'numbers that do not count': '1. one\n1. two\n1. three\n\n   text\n\n10) ten\n11) eleven',
  quotes: '> said **this**\n> and `that`\nlazily\n>\n> - a\n> - b\n>\n> ```js\n> x = 1;\n> ```\n\n> another\n\nend',
  'a fence':
    'Look:\n```ts\nconst a = `x\n**no bold**\n`;\n\n// | not | a table |\n```\nand ~~~:\n~~~\n``` in it\n~~~\nend',
  'a fence in a fence': '````md\n```ts\nx\n```\n````\n\nend',
  'a table':
    'Before\n\n| Name | Count | Note |\n|:-----|------:|:----:|\n| alpha | 1 | **bold** `code` |\n| beta beta | 20 | a longer note that wraps at some width |\n| γάμμα 漢字 | 300 | x |\n\nAfter',
  'a table without pipes at its sides': 'Text:\n\na | b\n--|--\n1 | 2\n3 | `4`\n\nnot a | table\n\nend',
  html: '<div align="center">\n<b>**x**</b>\n</div>\n\ntext <b>bold</b> and <br> and a<b\n\n<!-- a\n\ncomment -->\n\nend',
  'hard breaks': 'one  \ntwo\\\nthree\nfour **bold  \nbold** five',
  'wide characters':
    '这是**重点**内容和`代码`，还有[链接](https://a.b/中文)。\n\n👩‍👩‍👧‍👦 family 👍🏽 **🎉 done 🎉** ❤️ 한국어 *텍스트* é\n\n| 名前 | 値 |\n|---|--:|\n| 漢字 | 👍🏽 |',
  rules: 'a\n\n---\n\nb\n\n***\n\nc\n\n* * *\n\nd - e\n-- f',
  'tabs and control characters': 'a\tb\r\n\r\n\tcode\twith tab\r\n\r\nx\x1b[2Jy **b\x07ell**\r\n',
  'indented code': 'text\n\n    code **x**\n\n    more code\n\nend',
  'a long paragraph': `${words(60)} **bold ${words(20, 'b')}** ${words(80)} [a link](https://a.b) ${words(300)} \`code\` ${words(20)}`,
  'a long paragraph of lines': repeat(120, (i) => `line ${i} with **bold** and \`code\` and 漢字`),
  'a long fence': `Code:\n\n\`\`\`ts\n${repeat(150, (i) => (i % 40 === 7 ? `/* comment ${i}` : i % 40 === 30 ? 'end */' : `const a${i} = "x" + ${i};`))}\n\`\`\`\n\nend`,
  'a long list': repeat(
    80,
    (i) => `${i + 1}. item **${i}**${i % 7 === 0 ? '\n    - nested\n\n      text' : ''}${i % 10 === 9 ? '\n' : ''}`,
  ),
  'a long nested list': `- top\n${repeat(80, (i) => `  - item \`${i}\` with some words`)}\n- last\n\nend`,
  'a long table': `| n | name | value |\n|--:|---|---|\n${repeat(60, (i) => `| ${i} | name of ${i} | ${'value '.repeat((i % 5) + 1)}|`)}\n\nend`,
  'a long quote': `${repeat(60, (i) => `> line **${i}** of a quote${i % 9 === 8 ? '\n>' : ''}`)}\n\nend`,
};

/** Marks that stay open: the finished text has them, the frames before do not. */
export const OPEN_ANSWERS: Readonly<Record<string, string>> = {
  'marks that are never closed':
    'A **bold start and `code start and more\n\nNext *paragraph with ~~marks and [a bracket\n\nend',
  'a fence that is never closed': 'x\n\n```py\nprint("x")\n# end',
  'a list of open marks': '- a **b\n- c `d\n- e [f\n\nend',
};
