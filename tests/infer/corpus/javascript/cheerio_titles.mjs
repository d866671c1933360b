// Prints title and headings of a web page:  node cheerio_titles.mjs https://example.org/
import * as cheerio from 'cheerio';
import { argv, exit, stderr } from 'node:process';

const [, , address] = argv;
if (!address) {
  stderr.write('usage: cheerio_titles.mjs URL\n');
  exit(2);
}

async function load(url) {
  const response = await fetch(url, { redirect: 'follow', headers: { 'user-agent': 'title-reader/0.3' } });
  if (!(response.headers.get('content-type') ?? '').includes('html')) {
    throw new Error('not a page of HTML');
  }
  return cheerio.load(await response.text());
}

const $ = await load(address);
console.log($('title').first().text().trim());
$('h1, h2').each((_, element) => {
  const level = element.tagName === 'h1' ? '' : '  ';
  console.log(`${level}${$(element).text().replace(/\s+/g, ' ').trim()}`);
});
const links = $('a[href^="http"]')
  .map((_, a) => new URL($(a).attr('href')).host)
  .get();
console.log(`links to ${new Set(links).size} hosts`);
