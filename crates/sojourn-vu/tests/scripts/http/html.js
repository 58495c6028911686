// Row: 8.5 Response.html, submitForm, clickLink
import http from 'k6/http';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const page = http.get(`${__ENV.ROUTES}/form`);
  same('html', page.html().find('title').text(), 'A form');
  same('with a selector', page.html('li').size(), 3);
  const sent = page.submitForm({ formSelector: '#one', fields: { user: 'bob' } });
  same('a form', sent.body.split('&').sort(), [
    'go=Go',
    'note=text',
    'pick=b',
    'token=t1',
    'user=bob',
  ]);
  const pressed = page.submitForm({ formSelector: '#one', submitSelector: '[name=go]' });
  same('with a button', pressed.body.includes('go=Go'), true);
  const searched = page.submitForm({ formSelector: '#two' });
  same('by GET', [searched.status, searched.body], [200, 'x y']);
  same('a link', page.clickLink().body, 'page 2');
  same('a selected link', page.clickLink({ selector: 'a.next' }).body, 'page 2');
  same('with params', page.clickLink({ selector: 'a.next', params: { redirects: 0 } }).status, 200);
}
