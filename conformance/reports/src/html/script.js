
(() => {
  const box = document.getElementById('search');
  const none = document.getElementById('nothing-found');
  if (!box) return;
  box.parentElement.hidden = false;
  const entries = [...document.querySelectorAll('[data-find]')].map(entry => [entry, entry.dataset.find.toLowerCase()]);
  const groups = [...document.querySelectorAll('details.passed')];
  const search = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const [entry, text] of entries) {
      const hit = words.every(word => text.includes(word));
      entry.classList.toggle('unfound', !hit);
      found += hit;
    }
    for (const group of groups) {
      const has = group.querySelector('[data-find]:not(.unfound)');
      group.classList.toggle('unfound', !has);
      group.open = Boolean(words.length && has);
    }
    document.body.classList.toggle('searching', words.length > 0);
    none.textContent = words.length ? (found ? found + ' found' : 'Nothing found') : '';
  };
  box.addEventListener('input', search);
  document.addEventListener('keydown', event => {
    if (event.key === '/' && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
      event.preventDefault();
      box.focus();
    }
  });
})();
