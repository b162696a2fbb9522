/*
 * Every spelling of a request, and the one text that it has; what is none, and
 * where the caret stands.
 */
#include "compiler/front/word/request.h"
#include "compiler/ir/text.h"

#include "tests/check.h"

#include <string.h>

static const char *const read_as[][2] = {
	{"github.com:22", "github.com:22"},
	{"GitHub.com.:22", "github.com:22"},
	{"tcp github.com:22", "github.com:22"},
	{"connect github.com 22", "github.com:22"},
	{"connect tcp github.com 22", "github.com:22"},
	{"github.com:22/tcp", "github.com:22"},
	{"udp 8.8.8.8:53", "udp 8.8.8.8:53"},
	{"8.8.8.8:53/udp", "udp 8.8.8.8:53"},
	{"connect udp 8.8.8.8 53", "udp 8.8.8.8:53"},
	{"tcp 1.2.3.4:80 x.y", "tcp 1.2.3.4:80 x.y"},
	{"connect tcp 1.2.3.4 80 x.y", "tcp 1.2.3.4:80 x.y"},
	{"1.2.3.4:80  x.y", "tcp 1.2.3.4:80 x.y"},
	{"[2001:DB8::1]:443", "tcp [2001:db8::1]:443"},
	{"read:443", "read:443"},
	{"tcp read 443", "read:443"},
	{"POST https://api.github.com/gists",
	 "POST https://api.github.com/gists"},
	{"GET https://A.test:443?x", "GET https://a.test/"},
	{"GET http://a.test:443/b?c", "GET http://a.test:443/b"},
	{"GET https://[::1]:8443/%7e/../x//",
	 "GET https://[::1]:8443/%7e/../x//"},
	{"VERSION-CONTROL https://a.test/", "VERSION-CONTROL https://a.test/"},
	{"1OSJ https://a.test/", "1OSJ https://a.test/"},
	{"M-SEARCH  http://a.test/", "M-SEARCH http://a.test/"},
	{"!#$%&'*+-.^_`|~0Z https://a.test/x",
	 "!#$%&'*+-.^_`|~0Z https://a.test/x"},
	{"x-get HTTPS://a.test/", "x-get https://a.test/"},
	{"443 https://a.test/", "443 https://a.test/"},
	{"GET http://A.test/x at 192.0.2.1",
	 "GET http://a.test/x at 192.0.2.1"},
	{"GET http://a.test:8080/ at 192.0.2.1:8080",
	 "GET http://a.test:8080/ at 192.0.2.1"},
	{"GET https://a.test/ at [2001:DB8::1]:443 unresolved",
	 "GET https://a.test/ at 2001:db8::1 unresolved"},
	{"GET https://at/ at 10.0.0.1", "GET https://at/ at 10.0.0.1"},
	{"resolve X.Y.Z TXT", "resolve x.y.z TXT"},
	{"resolve x.y.z", "resolve x.y.z"},
	{"resolve _sip._tcp.x.y SRV", "resolve _sip._tcp.x.y SRV"},
	{"read .env", "read .env"},
	{"read a b/c d", "read a b/c d"},
	{"read read", "read read"},
	{"write .git/hooks/", "write .git/hooks/"},
	{"docker-arg --privileged", "docker-arg --privileged"},
	{"docker-arg -v /a b:/c", "docker-arg -v /a b:/c"},
};

/* Text, and the part that is underlined. */
static const char *const refused[][2] = {
	{"", ""},
	{"github.com", "github.com"},
	{"tcp", ""},
	{"tcp github.com", "github.com"},
	{"reed .env", "reed"},
	{"get https://a.test/", "get"},
	{"Options https://a.test/", "Options"},
	{"G\"T https://a.test/", "G\"T"},
	{"read https://a.test/", "https://a.test/"},
	{"docker-arg http://a.test/", "http://a.test/"},
	{"POST a.test", "a.test"},
	{"GET http://a.test/ at", ""},
	{"GET http://a.test/ at b.test", "b.test"},
	{"GET http://a.test/ at 10.0.0.0/8", "10.0.0.0/8"},
	{"GET http://a.test/ at 10.0.0.1:443", "10.0.0.1:443"},
	{"GET http://10.0.0.2/ at 10.0.0.1", "10.0.0.1"},
	{"GET http://a.test/ unresolved", "unresolved"},
	{"GET http://a.test/ at 10.0.0.1 x", "x"},
	{"GET a.test", "a.test"},
	{"GET https://*.a.test/", "https://*.a.test/"},
	{"GET https://a.test/#x", "#x"},
	{"GET https://a.test/ x", "x"},
	{"https://a.test/", "https://a.test/"},
	{"*.a.test:1", "*.a.test:1"},
	{"10.0.0.0/8:1", "10.0.0.0/8:1"},
	{"a.test:1-2", "a.test:1-2"},
	{"a.test:0", "0"},
	{"a.test:1 2", "2"},
	{"tcp a.test:1 b.test", "b.test"},
	{"udp a.test:1/tcp", "a.test:1/tcp"},
	{"tcp a.test:1/udp", "a.test:1/udp"},
	{"resolve", ""},
	{"resolve a.test txt", "txt"},
	{"resolve a.test:1", "a.test:1"},
	{"resolve 1.2.3.4", "1.2.3.4"},
	{"read", ""},
	{"read /etc/passwd", "/etc/passwd"},
	{"read a/../b", "a/../b"},
	{"write a//b", "a//b"},
	{"docker-arg", ""},
};

static struct arena *a;
static struct sources sources;
static struct diags diags;

static bool parse(const char *text, struct ir_request *out)
{
	struct pass_ctx ctx = {a, &sources, &diags};
	const struct source *s;
	struct text t = {.s = str_of(text)};

	sources_init(&sources, a);
	diags_init(&diags, a, &sources);
	s = sources_add(&sources, STR("<request>"), t.s, LAYER_FLAGS);
	t.verbatim = s->base;
	t.at = (struct span){s->base, s->base + (uint32_t)t.s.n};
	return request_parse(&ctx, &t, out);
}

static void check_read(const char *text, const char *wanted)
{
	struct ir_request r;
	struct str got = {0};

	if (parse(text, &r))
		got = ir_request_text(a, &r);
	CHECK_MSG(str_is(got, wanted), "%s: '%.*s'", text, STR_ARG(got));
	CHECK_MSG(parse(wanted, &r) && str_is(ir_request_text(a, &r), wanted),
		  "%s, again", wanted);
}

static void check_refused(const char *text, const char *under)
{
	struct diag_view v;
	struct ir_request r;
	struct str at;

	if (parse(text, &r) || !diags_get(&diags, 0, &v)) {
		CHECK_MSG(false, "%s was read", text);
		return;
	}
	at = sources_text(&sources, v.at);
	CHECK_MSG(str_is(at, under), "%s: '%.*s'", text, STR_ARG(at));
	CHECK_MSG(v.help.n > 0, "%s: no help", text);
}

int main(void)
{
	a = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(read_as); i++)
		check_read(read_as[i][0], read_as[i][1]);
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		check_refused(refused[i][0], refused[i][1]);
	arena_free(a);
	return check_status();
}
