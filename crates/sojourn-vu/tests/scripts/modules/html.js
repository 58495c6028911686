// Row: 8.6 k6/html
import { parseHTML } from 'k6/html';
import { same, strict } from '../lib/same.js';

export const options = strict;

const page = `<html lang="en"><head><title>T</title></head><body>
<div id="a" class="x y" data-n="5" data-long-name="z"><p>one</p><p class="second">two <b>bold</b></p></div>
<ul><li>1</li><li class="on">2</li><li>3</li></ul>
<form action="/go" method="post"><input name="u" value="v"><input type="checkbox" name="c" value="1" checked>
<select name="s"><option value="p">P</option><option value="q" selected>Q</option></select></form>
<a href="/path?q=1#h" hreflang="en">link</a></body></html>`;

export default function () {
  const doc = parseHTML(page);
  const items = doc.find('li');
  same('find', [items.size(), items.text()], [3, '123']);
  same(
    'first, last, eq',
    [items.first().text(), items.last().text(), items.eq(1).text()],
    ['1', '3', '2'],
  );
  same(
    'attr',
    [doc.find('#a').attr('class'), doc.find('#a').attr('none'), doc.find('#a').attr('none', 'd')],
    ['x y', undefined, 'd'],
  );
  same('html', doc.find('p.second').html(), 'two <b>bold</b>');
  same('val', [doc.find('[name=u]').val(), doc.find('select').val()], ['v', 'q']);
  same('children', doc.find('ul').children().size(), 3);
  same('parent', doc.find('b').parent().attr('class'), 'second');
  same('parents', doc.find('b').parents().size(), 4);
  same('closest', doc.find('b').closest('div').attr('id'), 'a');
  same(
    'next, prev',
    [doc.find('li.on').next().text(), doc.find('li.on').prev().text()],
    ['3', '1'],
  );
  same('siblings', doc.find('li.on').siblings().size(), 2);
  same(
    'filter, not, is, has',
    [
      items.filter('.on').size(),
      items.not('.on').size(),
      items.eq(1).is('.on'),
      doc.find('p').has('b').size(),
    ],
    [1, 2, true, 1],
  );
  same(
    'map',
    items.map((at, element) => `${at}${element.text()}`),
    ['01', '12', '23'],
  );
  const seen = [];
  items.each((at, element) => seen.push(`${at}${element.textContent()}`));
  same('each', seen, ['01', '12', '23']);
  same('slice', items.slice(1, 3).text(), '23');
  same(
    'toArray',
    items.toArray().map((it) => it.text()),
    ['1', '2', '3'],
  );
  same('get', items.get(1).textContent(), '2');
  same('index', doc.find('li.on').index(), 1);
  same('data', [doc.find('#a').data('n'), doc.find('#a').data('longName')], [5, 'z']);
  same('contents', doc.find('p.second').contents().size(), 2);
  const form = doc.find('form');
  same('serialize', form.serialize().split('&').sort(), ['s=q', 'u=v']);
  same('serializeObject', form.serializeObject(), { u: 'v', s: 'q' });
  same('serializeArray', form.serializeArray().length, 2);
  const link = doc.find('a').get(0);
  same(
    'an element',
    [link.nodeName(), link.getAttribute('href'), link.pathname(), link.hash()],
    ['a', '/path?q=1#h', '/path', '#h'],
  );
  same('its language', link.hrefLang(), 'en');
  same(
    'nothing',
    [doc.find('none').size(), doc.find('none').text(), doc.find('none').attr('x')],
    [0, '', undefined],
  );
}
