/* Amounts of Kubernetes: the same by another spelling, and nothing else. */
#include "compiler/cli/cluster/quantity.h"

#include "tests/check.h"

static const char *const same[][2] = {
	{"0.5", "500m"},     {"500m", "500m"},	    {"2", "2000m"},
	{"2048Mi", "2Gi"},   {"2147483648", "2Gi"}, {"1024Ki", "1Mi"},
	{"1k", "1000"},	     {"1e3", "1k"},	    {"1E3", "1000"},
	{"1E", "1e18"},	     {"1.5Gi", "1536Mi"},   {"+1", "1"},
	{"100e-3", "100m"},  {"1000n", "1u"},	    {".5", "0.50"},
	{"1.", "1"},	     {"0", "0Gi"},	    {"16Ei", "18446744073709551616"},
	{"0.000000001", "1n"},
};

static const char *const other[][2] = {
	{"1", "1m"},	  {"1Gi", "1G"},    {"1M", "1m"},
	{"2Gi", "2049Mi"}, {"1e3", "1e4"},  {"0.1n", "0.1n"},
	{"", ""},	  {"x", "x"},	    {"1Gib", "1Gib"},
	{"-1", "-1"},	  {"1 ", "1"},	    {"1..0", "1"},
	{"1e", "1"},	  {"1e99", "1e99"}, {"1Ki1", "1Ki1"},
	{".", "."},	  {"e3", "e3"},	    {"1ee3", "1000"},
	{"9999999999999999999999999999999", "9999999999999999999999999999999"},
	{"999999999999999999999999999999Ei",
	 "999999999999999999999999999999Ei"},
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		struct str a = str_of(same[i][0]), b = str_of(same[i][1]);

		CHECK_MSG(quantity_same(a, b) && quantity_same(b, a), "%s %s",
			  same[i][0], same[i][1]);
	}
	for (size_t i = 0; i < ARRAY_LEN(other); i++) {
		struct str a = str_of(other[i][0]), b = str_of(other[i][1]);

		CHECK_MSG(!quantity_same(a, b) && !quantity_same(b, a), "%s %s",
			  other[i][0], other[i][1]);
	}
	return check_status();
}
